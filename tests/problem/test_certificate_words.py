"""What a certificate proves, in one sentence, and the status that follows from a grade."""

from types import SimpleNamespace

import numpy as np
import pytest

from hullrank.problem.certificate import Certificate, Status
from hullrank.problem.statement import Grade, Point, Solution, certificate


@pytest.mark.parametrize(
    ("primal", "dual", "end"),
    [
        (1.0, 1.0, "rounding."),
        (1.0, 1 - 1e-6, "one part in 1,000,000."),
        (1.0, 1 - 1 / 24_830_638, "one part in 24,000,000."),
        (4.0, 3.9, "2.5%."),
        (1.0, -float("inf"), "Nothing is proven about how good this model is."),
        (1.0, -3.0, "Nothing is proven about how good this model is."),
    ],
)
def test_the_sentence_says_how_far_the_optimum_may_be(primal, dual, end):
    words = Certificate(primal, dual, Status.MAX_ITER, 1, 0.1, "newton", 7).in_words()
    assert words.endswith(end)


@pytest.mark.parametrize(
    ("above", "tol", "status"),
    [(3e-5, 1e-8, "precision"), (3e-5, 1e-4, "converged"), (-3e-5, 1e-4, "converged"), (1e-3, 1e-2, "failed")],
)
def test_a_bound_above_the_objective_counts_as_rounding_of_that_size(above, tol, status):
    """Up to ten times the noise, the gap is what the bound lies above the objective; beyond it the grade failed."""
    grade = Grade(2.0, 2.0 * (1 + above), noise=2e-5)
    solution = Solution(Point(np.zeros(1)), None, Status.CONVERGED, 1, "newton")
    graded = certificate(SimpleNamespace(n_order_constraints=7), grade, solution, tol, 0.1)
    assert graded.status == status
    assert graded.relative_gap == (float("inf") if status == "failed" else pytest.approx(abs(above), rel=1e-4))
    assert bool(graded.cause) == (status != "converged")
