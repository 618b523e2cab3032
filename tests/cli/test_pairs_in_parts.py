"""``fit --method swapped-pairs`` for tables larger than memory: the model that the whole table in memory gives."""

import json

import numpy as np
import polars as pl
import pytest
from commands import ORDER, table

from hullrank.io import load

ROWS = 12_000
MEMORY = ("--memory", "1MiB")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder of four files of different size without missing cells, the same in one file, and as a frame.

    No column is in order: neither the target ``value`` nor the queries ``query`` and ``name``.
    """
    rng = np.random.default_rng(3)
    frame = table(2, ROWS).with_columns(pl.col("age").fill_null(40)).drop("number")
    value = frame["size"] * 2 - frame["age"] * 0.03 + rng.normal(size=ROWS)
    query = pl.Series(rng.permutation(ROWS) // 12)
    frame = frame.with_columns(value=value, query=query, name=pl.format("q{}", query))
    folder = tmp_path_factory.mktemp("rows") / "files"
    folder.mkdir()
    for i, (start, stop) in enumerate([(0, 5000), (5000, 5001), (5001, 9000), (9000, ROWS)]):
        frame[start:stop].write_parquet(folder / f"{i}.parquet")
    whole = folder.parent / "whole.parquet"
    frame.write_parquet(whole)
    return folder, whole, frame


def assert_same_scores(parts, whole, frame):
    """The scores of two fits differ by no more than their gaps allow: 1/2 |w - w*|^2 <= gap."""
    a, b = load(parts), load(whole)
    np.testing.assert_allclose(a[0].transform(frame), b[0].transform(frame), atol=1e-12)
    assert pytest.approx(b[-1].C_, rel=1e-9) == a[-1].C_
    lengths = np.linalg.norm(b[0].transform(frame), axis=1)
    gaps = [model[-1].certificate_.gap for model in (a, b)]
    assert max(model[-1].certificate_.relative_gap for model in (a, b)) <= 1e-6
    allowed = lengths * sum((2 * gap) ** 0.5 for gap in gaps)
    assert (np.abs(a.score_samples(frame) - b.score_samples(frame)) <= allowed + 1e-9).all()
    return a[-1].certificate_


ALL = ("value", "grade", "weight", "query", "name")
KINDS = {
    "numbers": ("-t", "value"),
    "grades": ("-t", "grade", "--order", ORDER, "--weights", "weight"),
    "queries": ("-t", "value", "--weights", "weight", "--qid", "query"),
    "named queries": ("-t", "grade", "--order", ORDER, "--qid", "name"),
}


@pytest.mark.parametrize(
    ("kind", "loss"),
    [
        ("queries", "squared_hinge"),
        *(
            pytest.param(kind, loss, marks=pytest.mark.slow)
            for kind, loss in (
                ("numbers", "hinge"),
                ("numbers", "logistic"),
                ("grades", "squared_hinge"),
                ("grades", "logistic"),
                ("queries", "hinge"),
                ("named queries", "logistic"),
            )
        ),
    ],
)
def test_the_model_is_that_of_the_whole_table(run_here, files, tmp_path, kind, loss):
    folder, whole, frame = files
    others = [word for name in ALL if name not in KINDS[kind] for word in ("--drop", name)]
    options = (*KINDS[kind], *others, "--method", "swapped-pairs", "--set", f"loss={loss}", "--no-cv", "--json")
    parts = run_here("fit", folder, *options, "--out", tmp_path / "parts.hull", *MEMORY)
    one = run_here("fit", whole, *options, "--out", tmp_path / "whole.hull")
    assert parts.code == one.code == 0, parts.err + one.err
    found = assert_same_scores(tmp_path / "parts.hull", tmp_path / "whole.hull", frame)
    assert found.solver == "block_pairs"
    told = [json.loads(done.out) for done in (parts, one)]
    assert told[0]["rows"] == told[1]["rows"] == ROWS
    assert told[0]["training"] == pytest.approx(told[1]["training"], abs=1e-3)
    orders = [each["certificate"]["n_order_constraints"] for each in told]
    assert orders[0] == orders[1]
    assert not list(tmp_path.glob(".hullrank-*"))
