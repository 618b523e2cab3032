"""Ctrl-C in `compare` keeps the methods that have all their folds."""

import json

import pytest
from commands import ORDER, WORDS

from hullrank.cli import compare, console

ASKED = ("-t", "grade", "--order", ORDER, *WORDS, "--methods", "hull,logistic,prank", "--cv", "2")


@pytest.fixture
def ctrl_c(monkeypatch):
    """Presses Ctrl-C in the first fold of a method; ``error`` is what some libraries answer it by."""

    def press(method, error=None):
        usual = compare.runner

        def runner(task, remarks):
            def run(train, test):
                if task.method != method:
                    return usual(task, remarks)(train, test)
                console._Stop.asked = True
                raise error or KeyboardInterrupt

            return run

        monkeypatch.setattr(compare, "runner", runner)

    return press


@pytest.mark.parametrize("error", [None, RuntimeError("the compiler was interrupted"), ValueError("so was this")])
def test_methods_that_finished_are_shown(run_here, csv, ctrl_c, error):
    ctrl_c("prank", error)
    done = run_here("compare", csv, *ASKED)
    assert done.code == 130
    assert [line.split()[0] for line in done.out.splitlines()[2:]] in (["hull", "logistic"], ["logistic", "hull"])
    assert done.err == "stopped by Ctrl-C; 2 of 3 methods\n"


def test_json_says_how_many_were_asked_for(run_here, csv, ctrl_c):
    ctrl_c("logistic")
    done = run_here("compare", csv, *ASKED, "--json")
    assert done.code == 130
    told = json.loads(done.out)
    assert ([row["name"] for row in told["methods"]], told["of"]) == (["hull"], 3)


def test_nothing_is_shown_if_none_finished(run_here, csv, ctrl_c):
    ctrl_c("hull")
    done = run_here("compare", csv, *ASKED)
    assert (done.code, done.out, done.err) == (130, "", "")


def test_the_figure_of_a_fit_that_heard_ctrl_c_is_not_compared(monkeypatch):
    """A fit keeps its best answer so far and ends as if nothing had been; the comparison must not."""
    monkeypatch.setattr(compare, "stopped", lambda: True)
    with pytest.raises(KeyboardInterrupt):
        compare._naming("hull", lambda train, test: 0.5)(None, None)
