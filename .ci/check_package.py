"""Build the distributions twice and check them: complete, the same each time, accepted by the package index.

    python .ci/check_package.py

needs ``build``, ``twine`` and ``check-wheel-contents``. The second wheel is built from the first source distribution,
unpacked, so what a packager gets is enough to make what a user gets.
"""

import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
# What a packager, a contributor or a reader without network needs of a source distribution.
NEEDED = (
    "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "README.md", "noxfile.py", "docs/dependencies.md",
    "docs/images/score-line.png", "src/hullrank/py.typed", "src/hullrank/reports/page/report.js",
    "src/hullrank/app/page/app.js", "src/hullrank/datasets/tables/wine.csv", "tests/conftest.py",
)  # fmt: skip


def run(*command: str) -> None:
    """Run a module of this Python and stop with its exit code if it fails."""
    done = subprocess.run([sys.executable, "-m", *command], check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")


def build(source: Path, out: Path) -> tuple[Path, Path]:
    """The source distribution and the wheel of a folder."""
    run("build", "--sdist", "--wheel", "--outdir", str(out), str(source))
    (sdist,), (wheel,) = out.glob("*.tar.gz"), out.glob("*.whl")
    return sdist, wheel


def missing(sdist: Path) -> list[str]:
    """Files that a source distribution should contain and does not."""
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    return [name for name in NEEDED if name not in names]


def main() -> None:
    """Build, compare, check."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        first = build(HERE, work / "first")
        if absent := missing(first[0]):
            sys.exit(f"the source distribution lacks {', '.join(absent)}: see tool.hatch.build.targets.sdist")
        with tarfile.open(first[0]) as archive:
            archive.extractall(work / "unpacked", filter="data")
        (unpacked,) = (work / "unpacked").iterdir()
        second = build(unpacked, work / "second")
        for one, other in zip(first, second, strict=True):
            if one.read_bytes() != other.read_bytes():
                sys.exit(f"{one.name} differs between two builds")
            print(f"{one.name}: {one.stat().st_size:,} bytes, the same from two builds")
        run("twine", "check", "--strict", *map(str, first))
        run("check_wheel_contents", str(first[1]))
    print("twine check --strict and check-wheel-contents: passed")


if __name__ == "__main__":
    main()
