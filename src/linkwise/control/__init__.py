"""Controllers that know the dynamics, algorithms as others, compiled for a robot and its gains; and sampled ones."""

from linkwise.control.cascaded import cascaded_control as cascaded_control
from linkwise.control.cascaded import cascaded_lyapunov as cascaded_lyapunov
from linkwise.control.rigid import computed_torque as computed_torque
from linkwise.control.rigid import passivity_control as passivity_control
from linkwise.control.sampled import Commands as Commands
from linkwise.control.sampled import sampled as sampled
