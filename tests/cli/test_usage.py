"""Wrong uses, each answered with one line and exit code 2; help that teaches; interruptions."""

import json

import pytest

from linkwise.cli.root import cli
from support.command import error, linkwise

COMMANDS = sorted(name for name, command in cli.commands.items() if not command.hidden)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_teaches_by_example(command):
    text = linkwise(command, "--help").output
    assert f"linkwise {command}" in text.split("Examples")[1]
    assert max(map(len, text.splitlines())) <= 100


def test_no_command_is_answered_with_help():
    result = linkwise()
    assert result.exit_code == 2
    assert result.stderr == linkwise("--help").output


def test_root_lists_all_commands_whole():
    text = linkwise("--help").output
    for command in COMMANDS:
        assert f"  {command} " in text
    assert "..." not in text.split("Commands:")[1]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["nonsense"], "no such command 'nonsense'"),
        (["torqe"], "Did you mean 'torque'? See `linkwise --help`."),
        (["info"], "missing argument 'ROBOT'"),
        (["info", "no.urdf"], "'no.urdf': expected a file that can be read"),
        (["info", "nobody"], "Valid names: 'ankle', 'arm7'"),
        (["info", "arm.urdf", "--frob"], "'--frob'"),
        (["info", "arm.urdf", "--base", "flying"], "'flying' is not one of 'fixed', 'floating'"),
        (["info", "arm.urdf", "--lock", "knee"], "unknown joint 'knee'. Valid names: 'turn'"),
        (["info", "arm.urdf", "--lock", "elbow=x"], "expected a number, got 'x'"),
        (["info", "arm.urdf", "--side", "no.toml"], "no.toml"),
        (["torque", "arm.urdf"], "missing argument 'TRAJECTORY'"),
        (["torque", "arm.urdf", "swing.csv", "--payload", "2"], "such as 2.5@tool, got '2'"),
        (["torque", "arm.urdf", "swing.csv", "--payload", "2,1@tool"], "expected 1 or 4 numbers"),
        (["torque", "arm.urdf", "swing.csv", "--payload", "nan@tool"], "expected 1 or 4 numbers"),
        (["torque", "arm.urdf", "swing.csv", "--payload", "2@hand"], "unknown frame or link 'hand'"),
        (["torque", "arm.urdf", "swing.csv", "--payload=-2@tool"], "at least 0, got -2"),
        (["torque", "arm.urdf", "swing.csv", "--external", "tool"], "such as tool=0,0,-20,0,0,0, got 'tool'"),
        (["torque", "arm.urdf", "swing.csv", "--external", "tool=1,2"], "expected 3 or 6 numbers"),
        (["torque", "arm.urdf", "swing.csv", "--external", "hand=1,2,3"], "unknown frame or link 'hand'"),
        (["torque", "arm.urdf", "swing.csv", "--external=tool=1,2,3", "--external=tool=1,2,3"], "each frame once"),
        (["torque", "arm.urdf", "swing.csv", "-o", "x.txt"], "ends in .csv or .npz or .parquet, got .txt"),
        (["torque", "arm.urdf", "swing.csv", "-o", "no/x.csv"], "the folder 'no' does not exist"),
        (["torque", "arm.urdf", "swing.csv", "--plot", "x.gif"], "ends in .png or .svg or .pdf, got .gif"),
        (["convert", "arm.urdf"], "expected OUT.urdf, OUT.toml, --dh or --khalil"),
        (["convert", "arm.urdf", "./arm.urdf"], "expected another file"),
        (["convert", "arm.urdf", "x.step"], "ends in .urdf or .toml, got .step"),
        (["check", "no.urdf"], "there is no file 'no.urdf'"),
        (["check"], "missing argument 'ROBOT...'"),
        (["reproduce", "hexapod", "-o", "x.html"], "has left the command line. Run `make papers` in the repository"),
        (["completion", "tcsh"], "'tcsh' is not one of 'bash', 'zsh', 'fish'"),
        (["bench", "--rows", "0"], "0 is not in the range"),
    ],
)
def test_wrong_uses(folder, arguments, expected):
    assert expected in error(*arguments)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell):
    assert "_LINKWISE_COMPLETE" in linkwise("completion", shell).output


def test_completion_offers_robots(monkeypatch):
    monkeypatch.setenv("_LINKWISE_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "linkwise info sta")
    monkeypatch.setenv("COMP_CWORD", "2")
    assert linkwise().stdout.splitlines() == ["plain,stanford", "file,sta"]


def test_interruption_is_quiet(folder, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("linkwise.cli.info.load", interrupted)
    result = linkwise("info", "arm.urdf")
    assert result.exit_code == 130
    assert result.stderr.strip() == "linkwise: interrupted"


def test_robots_lists_what_load_knows():
    names = json.loads(linkwise("robots", "--json").stdout)
    assert {"stanford", "puma560"} <= set(names)
    assert "stanford" in linkwise("robots").stdout
