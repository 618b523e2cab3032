"""The single entry for all checks: ``nox --list`` shows them, ``nox`` runs lint, types, tests and docs.

Every session makes its own virtual environment, so nothing but nox has to be installed. With ``--no-venv`` a session
uses the environment that is active, which then needs ``pip install -e ".[dev]"``; ``.ci/run`` does so.
"""

import nox

nox.options.sessions = ["lint", "types", "tests", "docs"]
nox.options.reuse_existing_virtualenvs = True
PYTHONS = ["3.11", "3.12", "3.13"]
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "Agg"}


def install(session: nox.Session, *packages: str) -> None:
    """Install into the session's own environment; with ``--no-venv`` everything is there already."""
    if session.virtualenv.venv_backend != "none":
        session.install(*packages)


@nox.session
def lint(session: nox.Session) -> None:
    """Style, format, and the layers of the folders."""
    install(session, "-e", ".", "ruff>=0.9", "import-linter>=2.1")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("lint-imports")


@nox.session
def types(session: nox.Session) -> None:
    """Type hints, checked strictly."""
    install(session, "-e", ".[dev]")
    session.run("mypy")


@nox.session
def tests(session: nox.Session) -> None:
    """The tests, on all cores; arguments go to pytest: ``nox -s tests -- -m "not slow"``."""
    install(session, "-e", ".[test]")
    session.run("pytest", "-q", "-n", "auto", *session.posargs, env=ONE_THREAD)


@nox.session(python=PYTHONS)
def newest(session: nox.Session) -> None:
    """The tests with the newest versions of all dependencies, on every Python that we name."""
    install(session, "--upgrade", ".[test]")
    session.run("pytest", "-q", "-n", "auto", *session.posargs, env=ONE_THREAD)


@nox.session(python=PYTHONS, venv_backend="uv")
def lowest(session: nox.Session) -> None:
    """The tests with the lowest versions that pyproject.toml allows and that this Python has wheels of."""
    session.install("--resolution", "lowest-direct", "--only-binary", ":all:", "-e", ".[test]")
    session.run("pytest", "-q", "-n", "auto", *session.posargs, env=ONE_THREAD)


@nox.session
def docs(session: nox.Session) -> None:
    """Every example in the README, the pages, the docstrings and the gallery is run, and the site built from them.

    ``python docs/serve.py`` builds and serves the site alone.
    """
    install(session, "-e", ".[test,docs]")
    pytest = ("pytest", "-q", "-p", "no:cacheprovider", "-n", "auto")
    session.run(*pytest, "--doctest-glob=*.md", "docs", "README.md", env=ONE_THREAD)
    session.run(*pytest, "--doctest-modules", "src/hullrank", env=ONE_THREAD)
    session.run("python", "docs/serve.py", "--build-only", env=ONE_THREAD)


@nox.session
def package(session: nox.Session) -> None:
    """The distributions: complete, the same from every build, and accepted by the package index."""
    install(session, "build>=1.2.2", "twine>=6.1", "check-wheel-contents>=0.6.1")
    session.run("python", ".ci/check_package.py")


@nox.session
def benchmarks(session: nox.Session) -> None:
    """One benchmark with its arguments: ``nox -s benchmarks -- bench_linear.py --quick``."""
    if not session.posargs:
        session.error("name a script of the folder benchmarks: nox -s benchmarks -- bench_linear.py --quick")
    install(session, "-e", ".[bench]")
    script, *arguments = session.posargs
    session.run("python", f"benchmarks/{script}", *arguments)
