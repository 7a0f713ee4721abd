"""What other packages trace, differentiate and compile functions of their own with."""

from linkwise.backend.call import caller as caller
from linkwise.backend.call import explanation as explanation
from linkwise.backend.memory import empty as empty
from linkwise.backend.native import function as function
from linkwise.backend.program_cache import remembered as remembered
from linkwise.graph import differential as differential
from linkwise.graph.derivative import along as along
from linkwise.graph.derivative import forward as forward
from linkwise.graph.derivative import gradient as gradient
from linkwise.graph.derivative import jacobian as jacobian
from linkwise.graph.inline import inlined as inlined
from linkwise.graph.iteration import Before as Before
from linkwise.graph.node import Graph as Graph
from linkwise.graph.node import Node as Node
from linkwise.graph.node import is_zero as is_zero
from linkwise.graph.node import lift as lift
from linkwise.graph.program import Port as Port
from linkwise.graph.program import Program as Program
from linkwise.graph.program import finish as finish
from linkwise.graph.program import trace as trace
from linkwise.graph.program import without_collector as without_collector
