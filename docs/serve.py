"""Build the site and serve it on this machine.

    python docs/serve.py                 # http://localhost:8000
    python docs/serve.py --build-only    # what CI does: warnings are errors
    python docs/serve.py --port 8080 --no-gallery

needs ``pip install "hullrank[docs]"``. A second build runs only the examples that have changed.
"""

import argparse
import functools
import http.server
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SITE = HERE / "_build" / "html"


def build(*, gallery: bool) -> None:
    """Run Sphinx; any warning ends the build."""
    options = [] if gallery else ["-D", "plot_gallery=0"]
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", *options, str(HERE), str(SITE)]
    subprocess.run(command, check=True)
    print(f"built {SITE / 'index.html'}")


def main() -> None:
    """Build, and serve unless told otherwise."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--build-only", action="store_true", help="do not serve")
    parser.add_argument("--no-gallery", action="store_true", help="show the examples without running them")
    options = parser.parse_args()
    build(gallery=not options.no_gallery)
    if options.build_only:
        return
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(SITE))
    with http.server.ThreadingHTTPServer(("127.0.0.1", options.port), handler) as server:
        print(f"http://localhost:{options.port} (Ctrl-C ends it)")
        server.serve_forever()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
    except subprocess.CalledProcessError as failed:
        sys.exit(failed.returncode)
