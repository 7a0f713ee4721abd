"""What docs/five_minutes.md shows is what happens."""

import re
import shlex
from pathlib import Path

from support.command import linkwise

PAGE = Path(__file__).parents[2] / "docs" / "five_minutes.md"
BLOCK = re.compile(r"```(\w+)\n(.*?)```", flags=re.DOTALL)


def test_commands_run_and_print_what_the_page_shows(folder):
    printed, commands = "", 0
    for language, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if language == "sh":
            printed = ""
            for line in text.splitlines():
                assert line.startswith("linkwise ")
                command, _, remark = line.partition("#")
                result = linkwise(*shlex.split(command)[1:])
                code = re.search(r"exit code (\d)", remark)
                assert result.exit_code == (int(code[1]) if code else 0), result.output
                printed += result.output
                commands += 1
        elif language == "text" and printed:
            shown = [line.rstrip() for line in text.splitlines() if line.strip() not in ("", "...")]
            lines = printed.splitlines()
            if shown[0] in lines:  # a part of an output, not of a file
                assert [line for line in shown if line not in lines] == []
    assert commands >= 10


def test_the_motion_shown_is_the_file(folder):
    blocks = [text for language, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")) if language == "text"]
    motion = next(text for text in blocks if text.startswith("t,turn"))
    assert (folder / "swing.csv").read_text().startswith(motion.removesuffix("...\n"))


def test_code_runs(folder):
    space = {}
    for language, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if language == "python":
            exec(compile(text, str(PAGE), "exec"), space)
    assert space["tau"].shape == (41, 3)
    assert (folder / "loaded.png").stat().st_size > 10_000
