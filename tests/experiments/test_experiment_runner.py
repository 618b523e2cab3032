"""A run loses nothing that was finished: not by a crash, not by Ctrl-C, not by a cell that fails."""

import io
import json
import os
import signal

import pytest
from rich.console import Console

from hullrank.exceptions import DatasetError, HullrankError
from hullrank.experiments import pairs
from hullrank.experiments.base import Cell, Experiment, Results, grid_of_cells, load_experiment
from hullrank.experiments.runner import ResultLog, run_experiment

CELLS = grid_of_cells(2, ["a", "b"], ["m", "n"], quick=True)


def experiment(run, cells=CELLS, check=lambda name: None):
    return Experiment("toy", "toy", lambda quick: cells, check, run, lambda results, quick: None)


def go(run, out, jobs=1, **parts):
    return run_experiment(experiment(run, **parts), out, quick=True, jobs=jobs, console=Console(file=io.StringIO()))


def test_a_second_run_keeps_what_is_done_and_a_torn_line_is_done_again(tmp_path):
    calls = []

    def run(cell):
        calls.append(cell)
        return {"value": len(calls)}

    first = go(run, tmp_path)
    assert calls == CELLS
    assert (first.wanted, first.reused, first.interrupted) == (8, 0, False)
    path = tmp_path / "results.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:5], lines[5][:20]]))
    calls.clear()
    second = go(run, tmp_path)
    assert calls == CELLS[5:]
    assert second.reused == 5
    assert [json.loads(line)["dataset"] for line in path.read_text().splitlines()] == [c.dataset for c in CELLS]
    assert go(run, tmp_path).reused == 8


def test_a_failing_cell_is_named_and_tried_again(tmp_path):
    def breaks(cell):
        if cell == CELLS[3]:
            raise ValueError("no luck")
        return {}

    outcome = go(breaks, tmp_path)
    assert outcome.failures == [f"b, n, trial 0: {'ValueError: no luck'}"]
    assert len(outcome.records) == 7
    assert not go(lambda cell: {}, tmp_path).failures
    assert len((tmp_path / "results.jsonl").read_text().splitlines()) == 8


@pytest.mark.parametrize("swallowed", [True, False])
def test_ctrl_c_stops_the_run_and_drops_only_the_cell_under_way(tmp_path, swallowed):
    def run(cell):
        if cell == CELLS[2]:
            try:
                os.kill(os.getpid(), signal.SIGINT)
            except KeyboardInterrupt:  # as estimators do, to keep their best answer so far
                if not swallowed:
                    raise
        return {}

    before = signal.getsignal(signal.SIGINT)
    outcome = go(run, tmp_path)
    assert outcome.interrupted
    assert len(outcome.records) == 2
    assert signal.getsignal(signal.SIGINT) is before
    assert go(lambda cell: {}, tmp_path).reused == 2


def test_missing_data_are_left_out_and_named(tmp_path):
    def check(name):
        if name == "a":
            raise DatasetError("a is not here")

    outcome = go(lambda cell: {}, tmp_path, check=check)
    assert outcome.missing == {"a": "a is not here"}
    assert {record["dataset"] for record in outcome.records} == {"b"}


def test_quick_and_full_results_do_not_mix(tmp_path):
    ResultLog(tmp_path / "results.jsonl").append({"dataset": "a", "trial": 0, "method": "m", "quick": False})
    assert go(lambda cell: {}, tmp_path, cells=[Cell("a", 0, "m", True)]).reused == 0


@pytest.mark.slow
def test_processes_give_the_same_numbers(tmp_path):
    cells = [Cell("noisy scores", 0, method, True) for method in list(pairs.METHODS)[:2]]
    alone = go(pairs.run, tmp_path / "one", cells=cells)
    together = go(pairs.run, tmp_path / "two", cells=cells, jobs=2)

    def numbers(outcome):
        return {record["method"]: record["swapped"] for record in outcome.records}

    assert numbers(alone) == numbers(together)


def test_results_pair_only_trials_that_all_methods_finished():
    records = [{"dataset": "d", "method": m, "trial": t, "x": 10 * t} for m, t in (("p", 0), ("p", 1), ("q", 1))]
    results = Results(records)
    assert results.paired("d", ["p", "q"], "x").tolist() == [[10, 10]]
    assert results.values("d", "p", "x").tolist() == [0, 10]
    assert results.datasets(["d", "e"], ["p", "q"]) == ["d"]
    assert results.paired("e", ["p", "q"], "x").shape == (0, 2)


def test_unknown_papers_are_named():
    with pytest.raises(HullrankError, match="known are hull, margins, pairs, exact"):
        load_experiment("holl")
