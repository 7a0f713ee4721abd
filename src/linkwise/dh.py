"""Tables of Denavit and Hartenberg's parameters and of Khalil's: robots made of them, and tables made of robots."""

from linkwise.robot.dh import khalil as khalil
from linkwise.robot.dh import modified_dh as modified_dh
from linkwise.robot.dh import standard_dh as standard_dh
from linkwise.robot.table import DHRow as DHRow
from linkwise.robot.table import KhalilRow as KhalilRow
from linkwise.robot.to_dh import to_khalil as to_khalil
from linkwise.robot.to_dh import to_modified_dh as to_modified_dh
