"""Tables of Denavit and Hartenberg's parameters and of Khalil's: robots, tables of robots, pictures."""

from linkwise.formats.dh import khalil as khalil
from linkwise.formats.dh import modified_dh as modified_dh
from linkwise.formats.dh import standard_dh as standard_dh
from linkwise.formats.dh_figure import draw as draw
from linkwise.formats.dh_rows import DHRow as DHRow
from linkwise.formats.dh_rows import KhalilRow as KhalilRow
from linkwise.formats.dh_writer import to_khalil as to_khalil
from linkwise.formats.dh_writer import to_modified_dh as to_modified_dh
