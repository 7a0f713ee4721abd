"""Arrays and solids one after the other, as a page unpacks them."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.view.solids import Solid

ALIGNED = 8  # bytes to which arrays begin
FINE = 65535  # steps of a coordinate of a vertex within the box of its solid
TYPES = {"<f8": "f64", "<f4": "f32", "<u4": "u32", "<u2": "u16"}


class Packed:
    """Arrays one after the other, each solid once."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.solids: list[dict[str, Any]] = []
        self.known: dict[Any, int] = {}

    def array(self, values: Any, kind: str) -> dict[str, Any]:
        """Where an array stands."""
        self.data.extend(b"\0" * (-len(self.data) % ALIGNED))
        flat: NDArray[Any] = np.ascontiguousarray(values, dtype=kind)
        start = len(self.data)
        self.data.extend(flat.tobytes())
        return {"at": start, "length": flat.size, "type": TYPES[kind]}

    def solid(self, solid: Solid) -> int:
        """The number of a solid, its vertices in steps of its box."""
        low, high = solid.vertices.min(axis=0), solid.vertices.max(axis=0)
        step = np.maximum(high - low, 1e-9) / FINE
        cells = ((solid.vertices - low) / step).round().astype("<u2")
        key = (cells.tobytes(), low.tobytes(), step.tobytes(), solid.faces.tobytes())
        if key not in self.known:
            self.known[key] = len(self.solids)
            kind = "<u2" if len(cells) <= FINE else "<u4"
            box = {"low": low.tolist(), "step": step.tolist(), "open": solid.is_open}
            self.solids.append(box | {"vertices": self.array(cells.T, "<u2"), "faces": self.array(solid.faces, kind)})
        return self.known[key]

    def text(self, head: dict[str, Any]) -> str:
        """All of it: the length of the head, the head as JSON, and the arrays."""
        words = json.dumps({**head, "solids": self.solids}, allow_nan=False, separators=(",", ":")).encode()
        words += b" " * (-(len(words) + ALIGNED) % ALIGNED)
        whole = len(words).to_bytes(ALIGNED, "little") + words + bytes(self.data)
        return base64.b64encode(gzip.compress(whole, 6, mtime=0)).decode()
