"""Controllers that know the dynamics, compiled for a robot and its gains; sampled ones; and an observer of contacts."""

from linkwise.control.cascaded import cascaded_control as cascaded_control
from linkwise.control.cascaded import cascaded_lyapunov as cascaded_lyapunov
from linkwise.control.contact_observer import MomentumObserver as MomentumObserver
from linkwise.control.contact_observer import Residuals as Residuals
from linkwise.control.contact_observer import generalised_momentum as generalised_momentum
from linkwise.control.contact_observer import momentum_observer as momentum_observer
from linkwise.control.rigid import computed_torque as computed_torque
from linkwise.control.rigid import passivity_control as passivity_control
from linkwise.control.sampled import Commands as Commands
from linkwise.control.sampled import sampled as sampled
