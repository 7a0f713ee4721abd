"""Assembly that shuffles lanes of vectors: transposes, and rows shorter than a vector joined and parted."""

from __future__ import annotations

from collections.abc import Sequence

from linkwise.backend.target import Target


def joined(rows: list[str], target: Target, block: int) -> tuple[str, list[str]]:
    """Blocks of single rows joined to vectors: of four, those of rows 0, 4, 8, ..., of rows 1, 5, 9, ..., and so on."""
    width, lines = block, [""]
    while width < target.lanes:
        t, merged = f"<{width} x {target.real.name}>", []
        for start in range(0, len(rows), 2 * block):
            for k in range(start, start + block):
                lines.append(f"%j{width}_{k} = {_shuffle(t, rows[k], rows[k + block], range(2 * width))}")
                merged.append(f"%j{width}_{k}")
        rows, width = merged, 2 * width
    return "\n".join(lines), rows


def parted(vectors: list[str], target: Target) -> tuple[str, list[str]]:
    """Vectors of blocks of several rows, parted into these rows again."""
    block, lines, rows = len(vectors), [""], []
    if block == target.lanes:
        return "", vectors
    for r in range(target.lanes):
        first = r - r % block
        lines.append(f"%w{r} = {_shuffle(target.vector, vectors[r % block], 'poison', range(first, first + block))}")
        rows.append(f"%w{r}")
    return "\n".join(lines), rows


def transposed(rows: list[str], target: Target) -> tuple[str, list[str]]:
    """Square transpositions side by side, by halves: after the step of width w, blocks of w by w have moved."""
    lanes, t, width, lines = target.lanes, target.vector, 1, []
    while width < len(rows):
        turned = list(rows)
        for i in range(len(rows)):
            if i & width:
                continue
            j = i | width
            for out, shift in ((i, 0), (j, width)):
                picks = [(k & ~width) + shift + (lanes if k & width else 0) for k in range(lanes)]
                turned[out] = f"%tr{width}_{out}"
                lines.append(f"{turned[out]} = {_shuffle(t, rows[i], rows[j], picks)}")
        rows, width = turned, 2 * width
    return "\n".join(lines), rows


def _shuffle(t: str, a: str, b: str, picks: Sequence[int]) -> str:
    mask = ", ".join(f"i32 {p}" for p in picks)
    return f"shufflevector {t} {a}, {t} {b}, <{len(picks)} x i32> <{mask}>"
