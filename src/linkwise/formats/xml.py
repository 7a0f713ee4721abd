"""Reading XML without trust: bounded, without document types, and with line numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from xml.parsers import expat

from linkwise.errors import ModelError
from linkwise.formats.source import Source

DEEPEST = 200
MOST = 500_000  # elements kept, as of 30,000 links
MEND = "Give the true value or leave it out."
EVERY = frozenset("*")  # in a schema: all children are kept


@dataclass(slots=True)
class Element:
    """An element, its attributes, those of its children that the schema knows, and its line."""

    tag: str
    line: int
    attributes: dict[str, str]
    children: list[Element] = field(default_factory=list)

    def all(self, tag: str) -> list[Element]:
        """The children of that tag."""
        return [c for c in self.children if c.tag == tag]


def parse(source: Source, schema: Mapping[str, frozenset[str]], deepest: int = DEEPEST) -> Element:
    """The root element; `schema` says which children of each tag are kept, all others are skipped.

    Document types and entities are refused, as are depths and numbers of elements that no robot needs.
    """
    builder = _Builder(source, schema, deepest)
    parser = builder.parser
    try:
        parser.Parse(source.data, True)
    except ModelError:
        raise
    except (expat.ExpatError, ValueError, LookupError) as error:
        reason = str(error).split(": line ")[0]
        line = getattr(error, "lineno", parser.CurrentLineNumber)
        raise source.error(line, f"expected XML, got something that cannot be read: {reason}.") from error
    return builder.root


def first_tag(source: Source) -> str:
    """The tag of the root element; none where the text opens otherwise. Nothing behind it is read."""
    found: list[str] = []

    def stop(tag: str, *_: object) -> None:
        found.append(tag)
        raise StopIteration

    def refuse(*_: object) -> None:
        stop("")

    parser = expat.ParserCreate(source.encoding)
    parser.StartElementHandler, parser.StartDoctypeDeclHandler = stop, refuse
    with suppress(StopIteration, expat.ExpatError, ValueError, LookupError):
        parser.Parse(source.data, True)
    return found[0] if found else ""


class _Builder:
    """Handlers that keep the wanted part of a document."""

    def __init__(self, source: Source, schema: Mapping[str, frozenset[str]], deepest: int) -> None:
        self.source, self.schema, self.deepest = source, schema, deepest
        self.root = Element("", 0, {})
        self.open: list[Element] = []  # kept elements that are not closed yet
        self.skipped = self.kept = 0  # open elements inside the last kept one; kept elements of the document
        self.parser = expat.ParserCreate(source.encoding)
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.StartDoctypeDeclHandler = self.refuse
        self.parser.EntityDeclHandler = self.refuse

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if len(self.open) + self.skipped >= self.deepest:
            raise self.error(f"expected at most {self.deepest} nested elements, got more.")
        if not self.open:
            self.root = Element(tag, self.parser.CurrentLineNumber, attributes)
            self.open.append(self.root)
            return
        wanted = self.schema.get(self.open[-1].tag, ())
        if self.skipped or (tag not in wanted and wanted is not EVERY):
            self.skipped += 1
            return
        self.kept += 1
        if self.kept > MOST:
            raise self.error(f"expected at most {MOST} elements, got more.")
        element = Element(tag, self.parser.CurrentLineNumber, attributes)
        self.open[-1].children.append(element)
        self.open.append(element)

    def end(self, tag: str) -> None:
        if self.skipped:
            self.skipped -= 1
        else:
            self.open.pop()

    def refuse(self, *_: object) -> None:
        raise self.error("expected no document type, got <!DOCTYPE ...> or an entity. Remove the declaration.")

    def error(self, message: str) -> ModelError:
        return self.source.error(self.parser.CurrentLineNumber, message)


class Reader:
    """What readers of XML share: attributes as numbers, errors with their place, and the remarks met on the way.

    `item` is what messages call the thing an element belongs to, such as "joint 'elbow'".
    """

    def __init__(self, file: Source) -> None:
        self.file = file
        self.notes: list[tuple[str, str, str]] = []
        self.lines: dict[str, int] = {}  # of items, the last of that name

    def unplaced(self, error: ModelError, otherwise: int) -> ModelError:
        """An error of the whole robot, at the line of the item that its message opens with."""
        message = str(error)
        return self.file.error(next((n for i, n in self.lines.items() if message.startswith(i)), otherwise), message)

    def note(self, level: str, item: str, message: str) -> None:
        """Leave a remark for `robot.diagnostics`."""
        self.notes.append((level, item, message))

    def only(self, e: Element, tag: str, item: str, missing: str = "") -> Element | None:
        """The child of that tag, if any; of several the first counts. `missing` is noted if there is none."""
        found = [c for c in e.children if c.tag == tag]
        if len(found) == 1:
            return found[0]
        if found:
            self.note("warning", item, f"has {len(found)} <{tag}>: the first counts")
            return found[0]
        if missing:
            self.note("warning", item, f"has no <{tag}>: {missing}")
        return None

    def number(self, e: Element, key: str, item: str, default: float | None = None, *, finite: bool = True) -> float:
        """The attribute `key`; `default` where it is missing, unless that is None."""
        text = e.attributes.get(key)
        if text is None and default is not None:
            return default
        x = to_float(text)
        if x is not None and (math.isfinite(x) or (math.isinf(x) and not finite)):
            return x
        raise self.not_a_number(e, key, item, text)

    def numbers(self, e: Element, key: str, item: str, length: int, default: Sequence[float]) -> Sequence[float]:
        """The attribute `key`, `length` numbers."""
        text = e.attributes.get(key)
        if text is None:
            return default
        words = text.split()
        if len(words) != length:
            raise self.file.error(e.line, f"{item} {e.tag} {key}: expected {length} numbers, got {text!r}.")
        values = []
        for word in words:
            x = to_float(word)
            if x is None or not math.isfinite(x):
                raise self.not_a_number(e, key, item, word)
            values.append(x)
        return values

    def choice(self, e: Element, key: str, words: tuple[str, ...]) -> str:
        """The attribute `key`, one of `words`; the first where it is missing."""
        word = e.attributes.get(key, words[0])
        if word not in words:
            raise self.file.error(e.line, f"<{e.tag}> {key}: expected one of {words}, got {word!r}.")
        return word

    def not_a_number(self, e: Element, key: str, item: str, text: str | None) -> ModelError:
        """The error that says what an attribute is instead."""
        what, x = f"{item} {e.tag} {key}", to_float(text)
        if x is not None:
            return self.file.error(e.line, f"{what}: expected a finite number, got {x}. {MEND}")
        remedy = " Expand the xacro first: xacro arm.xacro > arm.urdf" if text and "${" in text else ""
        return self.file.error(e.line, f"{what}: expected a number, got {text!r}.{remedy}")


def to_float(text: str | None) -> float | None:
    """The number that a text says, if any."""
    # Python's own liberties (1_000, digits of other scripts) are no numbers in XML
    if not text or "_" in text or not text.isascii():
        return None
    try:
        return float(text)
    except ValueError:
        return None
