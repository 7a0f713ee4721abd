"""Standard streams that end no command: their reader may leave, their disk be full, they may be closed."""

from __future__ import annotations

import errno
import io
import os
import select
import sys
from typing import Any


class Stream(io.FileIO):
    """Bytes for a standard stream, which go nowhere once they cannot be written; `error` then says why."""

    error: OSError | None = None

    def write(self, data: Any) -> int:
        """Write some of the data, waiting for a reader that is slow; how many bytes."""
        try:
            while (count := super().write(data)) is None:
                select.select([], [self], [])
            return count
        except OSError as error:
            self.error = self.error or error
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            return len(data)


def guard() -> None:
    """Make the standard streams of this process such streams, in which no character is an error either."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:  # closed: what is opened next would take its place, and get what is printed
            os.open(os.devnull, os.O_RDWR)
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        old = getattr(sys, name)
        if sys.platform == "win32" and isinstance(old, io.TextIOWrapper) and old.isatty():
            old.reconfigure(errors="replace")  # Python's own way to a console there writes every character
            continue
        raw = Stream(descriptor, "wb", closefd=False)
        encoding = old.encoding if old else "utf-8"
        at_once = name == "stderr" or raw.isatty()
        stream = io.TextIOWrapper(io.BufferedWriter(raw), encoding, "replace", line_buffering=at_once)
        setattr(sys, name, stream)


def unwritten() -> str:
    """Why some of the output could not be written; empty where all was, or where its reader had left."""
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    error = raw.error if isinstance(raw, Stream) else None
    return "" if error is None or _left(error) else error.strerror or str(error)


def _left(error: OSError) -> bool:
    """Whether an error means that the reader is gone, as Windows too says it."""
    return isinstance(error, BrokenPipeError) or (sys.platform == "win32" and error.errno == errno.EINVAL)
