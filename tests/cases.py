"""Cases of parametrised tests, of which some are left to the whole run."""

import pytest


def slow_after(quick, cases):
    """The first ``quick`` cases as they are; the others are marked slow, so that ``-m "not slow"`` leaves them out."""
    cases = list(cases)
    return cases[:quick] + [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow) for case in cases[quick:]
    ]
