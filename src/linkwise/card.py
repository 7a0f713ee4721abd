"""Cards: what notebooks show of an object, and pages inside of them. All text is escaped here, and nowhere else."""

from __future__ import annotations

import html
import sys


def in_notebook() -> bool:
    """Whether a notebook runs this, which shows HTML; asked without importing IPython."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and "IPKernelApp" in getattr(shell, "config", {})


def inline_page(address: str, height: int = 520) -> str:
    return f'<iframe src="{html.escape(address)}" style="width:100%;height:{height}px;border:0"></iframe>'
