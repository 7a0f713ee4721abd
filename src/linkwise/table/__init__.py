"""Tables of samples: columns `t`, `q.elbow`, `tau.elbow`, ... of numbers, in files, in data frames, in results.

A .csv file has a header of names, a .parquet file and a data frame have them anyway. An .npz archive has an array for
each quantity, t (rows,), q (rows, ...), and the names of all columns in the array `columns`; archives of other programs
may have none, in which case the reader is told the names.
"""

from linkwise.table.reading import read as read
from linkwise.table.table import TIME as TIME
from linkwise.table.table import Sampled as Sampled
from linkwise.table.table import Table as Table
from linkwise.table.writing import SUFFIXES as SUFFIXES
from linkwise.table.writing import WRENCH as WRENCH
from linkwise.table.writing import Array as Array
from linkwise.table.writing import checked_suffix as checked_suffix
from linkwise.table.writing import write as write
