"""Writing files so that nothing is lost when something fails on the way."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from linkwise.errors import InputError


@contextmanager
def replacing(path: str | PathLike[str]) -> Iterator[Path]:
    """A path beside `path` to write to, which takes the place of `path` once the block has ended well.

    A reader sees the old file or the new one, never half of one; a block that fails leaves the old file alone.
    """
    try:
        target = Path(path).resolve()
        part = target.with_name(f".{target.stem}.{os.getpid()}{target.suffix}")
        try:
            yield part
            os.replace(part, target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"{os.fspath(path)!r}: expected a file that can be written, got: {reason}.") from error
