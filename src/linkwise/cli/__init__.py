"""The command line. Its root imports neither NumPy nor rich: they come with the command that runs."""

from __future__ import annotations


def main() -> None:
    """Run the command line with the arguments of this process, and leave."""
    try:
        from linkwise.cli.root import run
    except KeyboardInterrupt:  # before there is anyone to say so
        raise SystemExit(130) from None
    run()
