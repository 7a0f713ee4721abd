"""Robot files as bytes, and errors that say where in them."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from linkwise.errors import LinkwiseError, ModelError
from linkwise.files import contents

LARGEST = 64 * 1024 * 1024  # bytes; the largest robot files known are a hundred times smaller

PathOrText = str | bytes | PathLike[str]


@dataclass(frozen=True)
class Source:
    """The bytes of a robot file and its name in messages; `encoding` overrides what the bytes declare."""

    name: str
    data: bytes
    encoding: str | None = None

    @classmethod
    def of(cls, source: PathOrText, text_name: str) -> Source:
        """Read a file, or take a text (bytes, or a string with a `<` in it) under the name `text_name`."""
        if isinstance(source, bytes):
            return cls(text_name, source)._checked()
        if isinstance(source, str) and "<" in source:
            return cls(text_name, source.encode(errors="replace"), "utf-8")._checked()
        if not isinstance(source, (str, PathLike)):
            raise LinkwiseError(f"{text_name}: expected a path or a text, got {source!r}.")
        return cls(Path(source).name, contents(source, LARGEST))._checked()

    def _checked(self) -> Source:
        if len(self.data) > LARGEST:
            raise LinkwiseError(f"{self.name}: expected at most {LARGEST >> 20} MB, got more.")
        if not self.data.strip():
            raise LinkwiseError(f"{self.name}: expected a robot, got an empty file.")
        return self

    def error(self, line: int, message: str) -> ModelError:
        """The error `message`, placed."""
        return ModelError(f"{self.name}:{line}: {message}")

    def at(self, line: int, item: str) -> Place:
        """A context that places errors raised inside at a line, and names the item unless they do."""
        return Place(self, line, item)


class Place:
    """What `Source.at` enters."""

    __slots__ = ("item", "line", "source")

    def __init__(self, source: Source, line: int, item: str) -> None:
        self.source, self.line, self.item = source, line, item

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, LinkwiseError):
            message = str(error)
            placed = message if message.startswith(self.item) else f"{self.item} {message}"
            raise self.source.error(self.line, placed) from error


def refuse_errors(robot: Any, where: str) -> None:
    """Raise when the robot's diagnostics hold an error: what `strict=True` asks of a reader."""
    errors = [f"{d.where} {d.message}" for d in robot.diagnostics if d.level == "error"]
    if errors:
        found = "; ".join(errors[:5]) + (f"; ... and {len(errors) - 5} more" if len(errors) > 5 else "")
        raise ModelError(f"{where}: expected no errors (strict), got {found}. Mend them or load without strict.")
