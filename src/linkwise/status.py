"""A line on a terminal that says how far long work has come."""

from __future__ import annotations

import sys

from linkwise.errors import printable


class StatusLine:
    """One line of stderr, written over and over, and wiped in the end; nothing where stderr is no terminal."""

    def __init__(self) -> None:
        self.silent = sys.stderr is None or not sys.stderr.isatty()
        self._length = 0

    def write(self, line: str) -> None:
        """Show this line in place of the last."""
        line = printable(line)
        if not self.silent:
            sys.stderr.write("\r" + line.ljust(self._length))
            sys.stderr.flush()
            self._length = len(line)

    def wipe(self) -> None:
        """Leave no trace."""
        if self._length:
            self.write("")
            sys.stderr.write("\r")
            sys.stderr.flush()
