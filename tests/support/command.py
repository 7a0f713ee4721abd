"""The command line, run inside the test."""

from click.testing import CliRunner, Result

from linkwise.cli.root import cli


def linkwise(*arguments: object) -> Result:
    """Run `linkwise ARGUMENTS`; nothing that a user can do may end in an exception."""
    result = CliRunner().invoke(cli, [str(a) for a in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def error(*arguments: object) -> str:
    """The one line that a bad use is answered with."""
    result = linkwise(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("linkwise: error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr.removeprefix("linkwise: error: ").strip()
