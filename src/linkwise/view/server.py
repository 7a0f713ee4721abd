"""The server of a live page: on this machine alone, without a word on the terminal, and gone from forked children."""

from __future__ import annotations

import atexit
import os
import socket
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from linkwise.errors import InputError

HOST = "127.0.0.1"
OURS = (HOST, "localhost", "::1")  # hosts of pages that may talk to the server; ports may be forwarded
REFUSED = 1008  # the code by which a connection is closed that breaks a rule

_running: weakref.WeakSet[Server] = weakref.WeakSet()


class Server:
    """A viser server that listens on 127.0.0.1 and asks nobody for anything.

    Args:
        port: to listen on; 0 or None for any that is free.
        label: the title of the page's panel.
    """

    def __init__(self, port: Any, label: str) -> None:
        made, number = _class(), _checked(port)
        with _silence():
            self.viser = made(host=HOST, port=number, label=label, verbose=False)
        self.port = self.viser.get_port()
        self.open = True
        self.viser._websock_server.on_client_connect(self._refuse_others)
        _running.add(self)
        atexit.register(self.close)
        if number and self.port != number:
            self.close()
            raise _taken(number)

    @property
    def address(self) -> str:
        """The page."""
        return f"http://{HOST}:{self.port}"

    def close(self) -> None:
        """Stop; a second time does nothing."""
        if not self.open:
            return
        self.open = False
        atexit.unregister(self.close)
        with _silence():
            self.viser.stop()

    async def _refuse_others(self, client: Any) -> None:
        """Close connections that pages of other hosts opened, which browsers let them do."""
        connection = self.viser._websock_server._live_connections[client.client_id]
        origin = connection.request.headers.get("Origin")
        if origin is not None and urlsplit(origin).hostname not in OURS:
            await connection.close(REFUSED, "pages of this machine alone")

    def _forget(self) -> None:
        """Let go of what a forked child has of the server, of which its parent alone has the threads."""
        self.open = False
        for stop in (self.close, self.viser.stop, self.viser._websock_server.stop):
            atexit.unregister(stop)
        selector = getattr(self.viser.get_event_loop(), "_selector", None)
        nothing = os.open(os.devnull, os.O_RDWR)
        for key in list(selector.get_map().values()) if selector else ():
            os.dup2(nothing, key.fd, inheritable=False)  # the number stays with the socket's object, the socket goes
        os.close(nothing)


def _forget_all() -> None:
    for server in list(_running):
        if server.open:
            server._forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)


@cache
def _class() -> Any:
    """The class of the server: viser's, whose pages cannot have it publish itself elsewhere."""
    try:
        viser = import_module("viser")
    except ImportError as error:
        raise InputError(
            "show: expected the package 'viser' to be installed, which serves the page, got none."
            ' Install it with: pip install "linkwise[view]".'
        ) from error

    class Private(viser.ViserServer):  # type: ignore[misc,name-defined]
        """A server that never asks for a public address."""

        def request_share_url(self, verbose: bool = True) -> str | None:
            return None

    return Private


def _checked(port: Any) -> int:
    """A port that is free now."""
    number = 0 if port is None else port
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < 1 << 16:
        raise InputError(f"show port: expected a whole number from 0 to 65535, or None for any, got {port!r}.")
    with socket.socket() as test:
        if os.name == "posix":
            test.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            test.bind((HOST, number))
        except PermissionError as error:
            raise InputError(f"show port: expected a port that this user may have, got {port}.") from error
        except OSError as error:
            raise _taken(number) from error
    return number


def _taken(port: int) -> InputError:
    return InputError(f"show port: expected a free port, got {port}, which is taken. Give another, or None for any.")


@contextmanager
def _silence() -> Iterator[None]:
    """Without what viser prints when it starts and ends."""
    console = import_module("rich").get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before
