"""What a certificate proves, in one sentence."""

import pytest

from hullrank.problem.certificate import Certificate, Status


@pytest.mark.parametrize(
    ("primal", "dual", "end"),
    [
        (1.0, 1.0, "rounding."),
        (1.0, 1 - 1e-6, "one part in 1,000,000."),
        (4.0, 3.9, "2.5%."),
        (1.0, -float("inf"), "Nothing is proven about how good this model is."),
        (1.0, -3.0, "Nothing is proven about how good this model is."),
    ],
)
def test_the_sentence_says_how_far_the_optimum_may_be(primal, dual, end):
    words = Certificate(primal, dual, Status.MAX_ITER, 1, 0.1, "newton", 7).in_words()
    assert words.endswith(end)
