"""Robot files damaged at random, each the same for the same seed: elements, attributes, numbers, cuts, noise.

`Damaged(text, form)` prepares a file of the form "xml" or "toml"; `damaged.copy(rng)` gives bytes with one to three
edits. What an edit chooses is most often a part that readers of robots look at, rather than a shape or a mesh.
"""

import random
import re
from collections.abc import Callable
from xml.parsers import expat

READ = frozenset(
    (
        "link", "inertial", "origin", "mass", "inertia", "joint", "parent", "child", "axis", "limit", "dynamics",
        "mimic", "body", "frame", "freejoint", "site", "default", "compiler", "option", "geom", "equality", "worldbody",
    )
)  # fmt: skip
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])")
ATTRIBUTE = re.compile(r"\s[\w:.-]+=(?:\"[^\"]*\"|'[^']*')")
NAME = re.compile(r"[A-Za-z_][\w.-]*")
WORDS = (
    "nan", "inf", "-inf", "1e400", "1e308", "-1e308", "1e200", "1e60", "1e-320", "0", "-0.0", "-1", "", " ", "x", "1,5",
    "1_000", "0x10", "1e", "--1", "${m}", "1 2", "true", "9" * 400, "\u0663", "1e-9", "1e9", '"', "<", "&", "[", "{",
)  # fmt: skip

Span = tuple[int, int]
Edit = Callable[["Damaged", random.Random, str], str]


class Damaged:
    """A file to be damaged: its text and where its parts are."""

    def __init__(self, text: str, form: str) -> None:
        self.text, self.form = text, form
        self.parts = _elements(text) if form == "xml" else _tables(text)

    def copy(self, rng: random.Random) -> bytes:
        """The file with one to three edits."""
        first, *others = rng.choices((*PARTS, *PLAIN), k=rng.choice((1, 1, 1, 2, 3)))
        text = first(self, rng, self.text)
        for edit in others:
            text = (edit if edit in PLAIN else corrupt_number)(self, rng, text)
        data = text.encode(errors="surrogatepass")
        if rng.random() < 0.15:
            data = _noise(data, rng)
        return data[: rng.randrange(len(data) + 1)] if rng.random() < 0.03 else data

    def part(self, rng: random.Random) -> Span:
        return rng.choice(self.parts)


# ---- edits of whole parts, whose places hold only for the text as it was


def delete_part(file: Damaged, rng: random.Random, text: str) -> str:
    a, b = file.part(rng)
    return text[:a] + text[b:]


def duplicate_part(file: Damaged, rng: random.Random, text: str) -> str:
    a, b = file.part(rng)
    return text[:b] + text[a:b] + text[b:]


def swap_parts(file: Damaged, rng: random.Random, text: str) -> str:
    (a, b), (c, d) = sorted((file.part(rng), file.part(rng)))
    if c < b:  # one inside the other: the outer gives way to the inner
        return text[:a] + text[c:d] + text[b:]
    return text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]


def corrupt_part(file: Damaged, rng: random.Random, text: str) -> str:
    a, b = file.part(rng)
    return text[:a] + rng.choice(PLAIN)(file, rng, text[a:b]) + text[b:]


# ---- edits of any text


def corrupt_number(file: Damaged, rng: random.Random, text: str) -> str:
    def other(found: str) -> str:
        if rng.random() < 0.6:
            return rng.choice(WORDS)
        return repr(float(found) * rng.choice((-1.0, 0.0, 1e3, 1e-3, rng.uniform(-2.0, 2.0))))

    return _replaced(NUMBER, rng, text, other)


def swap_numbers(file: Damaged, rng: random.Random, text: str) -> str:
    found = list(NUMBER.finditer(text))
    if len(found) < 2:
        return text
    one, two = sorted(rng.sample(range(len(found)), 2))
    (a, b), (c, d) = found[one].span(), found[two].span()
    return text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]


def corrupt_name(file: Damaged, rng: random.Random, text: str) -> str:
    names = NAME.findall(text)
    return _replaced(NAME, rng, text, lambda _: rng.choice((*names, rng.choice(WORDS), "Ω")))


def delete_attribute(file: Damaged, rng: random.Random, text: str) -> str:
    return _replaced(ATTRIBUTE, rng, text, lambda _: "")


def duplicate_attribute(file: Damaged, rng: random.Random, text: str) -> str:
    return _replaced(ATTRIBUTE, rng, text, lambda found: found + rng.choice(("", " ")) + found.strip())


def move_line(file: Damaged, rng: random.Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    line = lines.pop(rng.randrange(len(lines))) if lines else ""
    lines.insert(rng.randrange(len(lines) + 1), rng.choice(("", line, line + line)))
    return "".join(lines)


PARTS: tuple[Edit, ...] = (delete_part, duplicate_part, swap_parts, corrupt_part, corrupt_part, corrupt_part)
PLAIN: tuple[Edit, ...] = (
    corrupt_number, corrupt_number, swap_numbers, corrupt_name, delete_attribute, duplicate_attribute, move_line,
)  # fmt: skip


def _replaced(pattern: re.Pattern[str], rng: random.Random, text: str, other: Callable[[str], str]) -> str:
    """One place of a pattern exchanged."""
    found = list(pattern.finditer(text))
    if not found:
        return text
    a, b = rng.choice(found).span()
    return text[:a] + other(text[a:b]) + text[b:]


def _noise(data: bytes, rng: random.Random) -> bytes:
    noisy = bytearray(data)
    for _ in range(rng.randrange(1, 5)):
        at = rng.randrange(len(noisy) + 1)
        noisy[at : at + rng.choice((0, 1, 1, 20))] = bytes(rng.randrange(256) for _ in range(rng.randrange(3)))
    return bytes(noisy)


# ---- where parts are


def _elements(text: str) -> list[Span]:
    """The elements of a document that matter, from tag to tag; all of them where none do."""
    data, stack, found, other = text.encode(), [], [], []
    parser = expat.ParserCreate("utf-8")

    def start(tag: str, _: object) -> None:
        stack.append((tag, parser.CurrentByteIndex))

    def end(_: str) -> None:
        tag, a = stack.pop()
        b = parser.CurrentByteIndex
        b = data.index(b">", b) + 1
        (found if tag in READ else other).append((len(data[:a].decode()), len(data[:b].decode())))

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.Parse(data, True)
    return found + other[: len(found) // 10] or other


def _tables(text: str) -> list[Span]:
    """The tables and the lines of a TOML file."""
    lines = [m.span() for m in re.finditer(r"[^\n]+\n?", text)]
    heads = [a for a, b in lines if text[a:b].startswith("[")]
    return lines + list(zip(heads, [*heads[1:], len(text)], strict=True))
