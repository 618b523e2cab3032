"""The ``hullrank`` command; it holds no mathematics."""

import sys


def main() -> None:
    """Run the command; errors are one sentence on stderr, with exit code 1 (2 for wrong usage, 130 after Ctrl-C)."""
    try:
        from hullrank.cli.start import start_quickly

        start_quickly()
        from hullrank.cli.app import app
        from hullrank.cli.console import reporting_errors
    except KeyboardInterrupt:
        sys.exit(130)
    with reporting_errors():
        app()
