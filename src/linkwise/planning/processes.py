"""What is sent to other processes: refused by name where it cannot go."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from linkwise.errors import InputError, LinkwiseError

UNSENDABLE = (pickle.PicklingError, AttributeError, TypeError)  # what pickle raises, by what it meets


def check_sendable(where: str, executor: Executor, things: Mapping[str, Any]) -> None:
    """Refuse things that a pool of processes cannot be sent, such as a lambda; others send in ways of their own."""
    if not isinstance(executor, ProcessPoolExecutor):
        return
    for name, value in things.items():
        try:
            pickle.dumps(value)
        except UNSENDABLE as error:
            raise _refusal(where, name, value, error) from error


def sent_back(where: str, result: Callable[[], Any]) -> Any:
    """A result from another process, or an error that says why there is none."""
    try:
        return result()
    except BrokenProcessPool as error:
        if error.__cause__ is not None:  # what came back could not be read, and the pool gave up
            raise InputError(
                f"{where}: expected results and exceptions that can be read from another process, got"
                f" {_last_line(error.__cause__)}. Is there an exception of yours whose __init__ takes more than its"
                " message? What was finished into a folder is kept there."
            ) from error
        raise LinkwiseError(
            f"{where}: expected processes that live, got one that ended abruptly. In a script put the call under"
            " `if __name__ == '__main__':`, for every process begins by importing the script; else it was killed, or"
            " memory was short. What was finished into a folder is kept there."
        ) from error
    except UNSENDABLE as error:
        if "pickle" not in str(error).lower():
            raise
        raise InputError(
            f"{where}: expected results that can be sent between processes, got: {str(error).rstrip('.')}. Write"
            " lambdas and functions inside functions as functions of a module."
        ) from error


def _last_line(cause: BaseException) -> str:
    """The error itself, out of the text of a traceback."""
    lines = [line for line in str(cause).strip(" '\"\n").splitlines() if line]
    return lines[-1] if lines else repr(cause)


def _refusal(where: str, name: str, value: Any, error: Exception) -> InputError:
    shown = repr(value)
    shown = shown if len(shown) < 200 else f"a {type(value).__name__}"
    return InputError(
        f"{where} {name}: expected what can be sent to other processes, got {shown} ({str(error).rstrip('.')}). Write"
        " lambdas and functions inside functions as functions of a module, or run it without processes."
    )
