"""Starting the page: a socket on this machine only, a token, and a browser."""

import secrets
import signal
import socket
import sys
import webbrowser
from collections.abc import Callable
from contextlib import suppress

from hullrank.app.limits import MB, Limits
from hullrank.exceptions import HullrankError, MissingExtraError

HOST = "127.0.0.1"


def serve(port: int, max_upload: int, open_browser: bool, say: Callable[[str], None]) -> None:
    """Serve the page until Ctrl-C; ``say`` is told its address. Port 0 is any free one, ``max_upload`` is in MB."""
    try:
        import uvicorn

        from hullrank.app.server import make_app
    except ImportError as error:
        raise MissingExtraError(
            f"the page needs {str(error.name).partition('.')[0]}, which is not installed: pip install 'hullrank[app]'"
        ) from error
    listener = _listening(port)
    token, number = secrets.token_urlsafe(24), listener.getsockname()[1]
    address = f"http://{HOST}:{number}/{token}/"
    app = make_app(token, number, Limits(upload=max_upload * MB))
    config = uvicorn.Config(app, log_level="error", access_log=False, server_header=False, timeout_graceful_shutdown=2)
    say(address)
    if open_browser:
        webbrowser.open(address)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with suppress(KeyboardInterrupt):  # which the server raises again after it has tidied up
        uvicorn.Server(config).run(sockets=[listener])


def _listening(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if sys.platform != "win32":
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
    except OSError as error:
        raise HullrankError(
            f"port {port} cannot be used ({error.strerror}); leave out --port for any free one"
        ) from error
    listener.listen()  # a browser that comes before the server has started waits instead of being refused
    return listener
