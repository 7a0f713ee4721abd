"""From logs to models: parameters of a robot from what its sensors measured."""

from linkwise.identification.excitation import Excitation as Excitation
from linkwise.identification.excitation import excite as excite
