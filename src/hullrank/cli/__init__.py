"""The ``hullrank`` command; it holds no mathematics."""


def main() -> None:
    """Run the command; errors are one sentence on stderr, with exit code 1 (2 for wrong usage)."""
    from hullrank.cli.app import app
    from hullrank.cli.console import reporting_errors

    with reporting_errors():
        app()
