"""``hullrank sample``: a small table of the package, written to a file to try the other commands on."""

from importlib.resources import files
from pathlib import Path

from hullrank.cli.console import out, print_json, say, table
from hullrank.cli.output import STDOUT, check_table_place, placed
from hullrank.exceptions import HullrankError
from hullrank.io.atomic import replacing
from hullrank.io.meant import did_you_mean

# What the tables hold; all values are made up (tests/datasets/make_samples.py).
SAMPLES = {
    "wine.csv": "300 wines with a grade: poor < fair < good < excellent",
    "new-wine.csv": "40 more wines without a grade, to be ranked",
    "searches.csv": "the results of 40 searches, with their relevance from 0 to 3 within each query",
}


def run_sample(name: str | None, place: Path | None, *, overwrite: bool, as_json: bool) -> None:
    """Write a sample table, or list them all."""
    if name is None:
        _list(as_json)
        return
    if name not in SAMPLES:
        hint = did_you_mean(name, SAMPLES) or f"; there are {', '.join(SAMPLES)}"
        raise HullrankError(f"there is no sample {name!r}{hint}")
    path = Path(name) if place is None else place
    check_table_place(path, as_json=as_json)
    if path.suffix.lower() not in (".csv", "") and str(path) != STDOUT:
        raise HullrankError(f"samples are CSV files, and {path} is the name of another kind")
    if path.exists() and not overwrite:
        raise HullrankError(f"{path} exists already; give --force to replace it, or --out with another name")
    held = files("hullrank") / "datasets" / "tables" / name
    with placed(path) as target, replacing(target) as stream:
        stream.write(held.read_bytes())
    if as_json:
        print_json({"sample": name, "file": path, "holds": SAMPLES[name]})
    elif str(path) != STDOUT:
        say(f"Wrote {path}: {SAMPLES[name]} (all made up)")


def _list(as_json: bool) -> None:
    if as_json:
        print_json([{"sample": name, "holds": holds} for name, holds in SAMPLES.items()])
        return
    out.print(table("Samples", ("name", "holds"), SAMPLES.items(), left=2))
    say("\n`hullrank sample NAME` writes one to this folder")
