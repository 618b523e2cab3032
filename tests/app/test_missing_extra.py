"""Without the extra the command says what to install, and the rest of the command does not need it."""

import subprocess
import sys

import pytest

from cases import slow_after


@pytest.mark.parametrize("missing", slow_after(1, ["starlette", "uvicorn"]))
def test_a_missing_extra_is_named(missing):
    program = (
        f"import sys; sys.modules[{missing!r}] = None; sys.argv = ['hullrank', 'app'];"
        "from hullrank.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    words = " ".join(done.stderr.split())
    assert words == f"error: the page needs {missing}, which is not installed: pip install 'hullrank[app]'"


@pytest.mark.slow
def test_a_taken_port_is_an_error_in_words():
    import socket

    pytest.importorskip("uvicorn", reason="pip install 'hullrank[app]'")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "hullrank", "app", "--no-browser", "--port", str(port)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"port {port} cannot be used" in done.stderr
