"""Kernels as functions of JAX and PyTorch that can be sent to other processes: networks that hold them can be saved."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linkwise.kernel.kernel import Compiled


class Lent(functools.partial):  # type: ignore[type-arg]
    """A function of another tool, and the kernel of which it is made again in another process."""

    kernel: Compiled
    tool: str
    options: dict[str, Any]

    @classmethod
    def of(cls, call: Callable[..., Any], kernel: Compiled, tool: str, **options: Any) -> Lent:
        """A function that `kernel.<tool>(**options)` makes."""
        lent = cls(call)
        lent.kernel, lent.tool, lent.options = kernel, tool, options
        functools.update_wrapper(lent, call)
        return lent

    def __reduce__(self) -> Any:
        return _again, (self.kernel, self.tool, self.options)

    def __repr__(self) -> str:
        return f"<{self.kernel._title()} as a function of {self.tool}>"


def _again(kernel: Compiled, tool: str, options: dict[str, Any]) -> Any:
    return getattr(kernel, tool)(**options)
