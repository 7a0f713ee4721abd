"""Closed chains: trees whose ends are held together by cut joints."""

from linkwise.closed.closed import Closed as Closed
from linkwise.closed.results import Accelerations as Accelerations
from linkwise.closed.results import Motion as Motion
from linkwise.closed.results import Positions as Positions
from linkwise.closed.results import Reactions as Reactions
from linkwise.closed.results import Torques as Torques
from linkwise.mechanism.structure import Structure as Structure
from linkwise.mechanism.structure import structure_of as structure_of
