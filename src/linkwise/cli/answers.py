"""How commands answer: files first, then JSON or text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from linkwise.cli import show
from linkwise.errors import LinkwiseError

Writers = Mapping[str, tuple[Path | None, Callable[[Path], Any]]]  # by what is written: where to, and how


@contextmanager
def written(writers: Writers) -> Iterator[dict[str, Path | None]]:
    """Write files, then answer in the block, which gets those that were written.

    No reader that leaves takes a file away, and no file that cannot be written takes the answer away: that is an error
    after the block.
    """
    done, problems = dict.fromkeys(writers), []
    for what, (path, write) in writers.items():
        if path:
            try:
                write(path)
                done[what] = path
            except LinkwiseError as error:
                problems.append(error)
    yield done
    for problem in problems:
        raise problem


def answer(writers: Writers, facts: Mapping[str, Any], shown: Callable[..., None], as_json: bool) -> None:
    """Write files, then print the facts and the files as JSON, or what `shown` prints of them."""
    with written(writers) as files:
        if as_json:
            show.as_json({**facts, **{what: str(path) if path else None for what, path in files.items()}})
        else:
            shown(facts, **files)
