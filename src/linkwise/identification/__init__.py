"""From logs to models: parameters of a robot from what its sensors measured."""

from linkwise.identification.nonlinear import NonlinearFriction as NonlinearFriction
from linkwise.identification.nonlinear import nonlinear_friction as nonlinear_friction
from linkwise.identification.output_error import OutputError as OutputError
from linkwise.identification.output_error import output_error as output_error
from linkwise.identification.physical import Consistent as Consistent
from linkwise.identification.physical import consistent as consistent
from linkwise.identification.separable import Separated as Separated
from linkwise.identification.separable import separable_least_squares as separable_least_squares
