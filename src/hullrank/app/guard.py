"""What a request must show before anything is done: the right host, the right origin, the token."""

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse

Scope = MutableMapping[str, Any]
Channel = Callable[..., Awaitable[Any]]

HEADERS = {
    # Only our own scripts run, and they speak only with us. Pictures are drawn as SVG with style attributes.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # other pages must not see the token
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    """Lets a request pass to the page only from this machine's own browser pages, and with the token in its path.

    The host must be ours, because a name that an attacker points at 127.0.0.1 would make his page same-origin; the
    origin must be ours, because any page in the browser may send a request here.
    """

    def __init__(self, app: Channel, *, token: str, port: int) -> None:
        self.app, self.token = app, token
        self.hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}

    async def __call__(self, scope: Scope, receive: Channel, send: Channel) -> None:
        """Answer a request, with the headers that every answer has."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_guarded(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        reason = self._reason(scope)
        answer = self.app if reason is None else PlainTextResponse(reason + "\n", 403)
        await answer(scope, receive, send_guarded)

    def _reason(self, scope: Scope) -> str | None:
        """Why a request is refused, or None."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if host not in self.hosts:
            return "this page answers only at 127.0.0.1 and localhost"
        if headers.get("origin", f"http://{host}") != f"http://{host}":
            return "this page takes no requests from other pages"
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and scope["method"] != "GET":
            return "this page takes no requests from other pages"
        given = scope["path"].removeprefix("/").partition("/")[0]
        if not hmac.compare_digest(given.encode(), self.token.encode()):
            return "the token is missing or wrong; open the whole address that `hullrank app` printed"
        return None
