"""Reading XML without trust: bounded, without document types, and with line numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from xml.parsers import expat

from linkwise.errors import ModelError
from linkwise.robot.source import Source

DEEPEST = 200
MOST = 500_000  # elements kept, as of 30,000 links


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


def parse(source: Source, schema: Mapping[str, frozenset[str]]) -> Element:
    """The root element; `schema` says which children of each tag are kept, all others are skipped.

    Document types and entities are refused, as are depths and numbers of elements that no robot needs.
    """
    builder = _Builder(source, schema)
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


class _Builder:
    """Handlers that keep the wanted part of a document."""

    def __init__(self, source: Source, schema: Mapping[str, frozenset[str]]) -> None:
        self.source, self.schema = source, schema
        self.root = Element("", 0, {})
        self.open: list[Element] = []  # kept elements that are not closed yet
        self.depth = self.kept = 0
        self.parser = expat.ParserCreate(source.encoding)
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.StartDoctypeDeclHandler = self.refuse
        self.parser.EntityDeclHandler = self.refuse

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        line = self.parser.CurrentLineNumber
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.source.error(line, f"expected at most {DEEPEST} nested elements, got more.")
        if self.depth == 1:
            self.root = Element(tag, line, attributes)
            self.open.append(self.root)
        elif self.depth == len(self.open) + 1 and tag in self.schema.get(self.open[-1].tag, ()):
            self.kept += 1
            if self.kept > MOST:
                raise self.source.error(line, f"expected at most {MOST} elements, got more.")
            element = Element(tag, line, attributes)
            self.open[-1].children.append(element)
            self.open.append(element)

    def end(self, tag: str) -> None:
        if self.depth == len(self.open):
            self.open.pop()
        self.depth -= 1

    def refuse(self, *_: object) -> None:
        raise self.source.error(
            self.parser.CurrentLineNumber,
            "expected no document type, got <!DOCTYPE ...> or an entity. Remove the declaration.",
        )
