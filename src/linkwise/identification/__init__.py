"""From logs to models: parameters of a robot from what its sensors measured."""

from linkwise.identification.estimates import Estimate as Estimate
from linkwise.identification.estimates import Estimates as Estimates
from linkwise.identification.excitation import Excitation as Excitation
from linkwise.identification.excitation import excite as excite
from linkwise.identification.experiment import simulated_log as simulated_log
from linkwise.identification.fit import Fit as Fit
from linkwise.identification.nonlinear import NonlinearFriction as NonlinearFriction
from linkwise.identification.nonlinear import nonlinear_friction as nonlinear_friction
from linkwise.identification.output_error import OutputError as OutputError
from linkwise.identification.output_error import output_error as output_error
from linkwise.identification.payload import Load as Load
from linkwise.identification.physical import Consistent as Consistent
from linkwise.identification.physical import consistent as consistent
from linkwise.identification.separable import Separated as Separated
from linkwise.identification.separable import separable_least_squares as separable_least_squares
from linkwise.identification.statistics import Error as Error
from linkwise.identification.statistics import Test as Test
from linkwise.identification.statistics import Whiteness as Whiteness
from linkwise.identification.structure import Structure as Structure
