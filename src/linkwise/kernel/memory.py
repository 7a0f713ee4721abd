"""Memory that is kept for large outputs of kernels: how much, how much at most, and how to give it back.

A kernel that is called without `out=` makes new arrays each time. Those of 32 KiB and more take memory that arrays of
earlier calls have given back, which is much faster than fresh memory; from 256 MiB on, the oldest goes back to the
system at once.
"""

from linkwise.backend.memory import held as held
from linkwise.backend.memory import limit as limit
from linkwise.backend.memory import release as release
