"""`linkwise completion`: the script that lets a shell complete commands, options and robots."""

from __future__ import annotations

import click
from click.shell_completion import BashComplete, FishComplete, ZshComplete

SHELLS = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}


@click.command(short_help="Print a script that lets a shell complete.")
@click.argument("shell", type=click.Choice(list(SHELLS)))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a script that teaches a shell to complete linkwise.

    \b
    Examples, for one session or for good:
      eval "$(linkwise completion bash)"
      linkwise completion bash >> ~/.bashrc
      linkwise completion zsh >> ~/.zshrc
      linkwise completion fish > ~/.config/fish/completions/linkwise.fish
    """
    click.echo(SHELLS[shell](ctx.find_root().command, {}, "linkwise", "_LINKWISE_COMPLETE").source())
