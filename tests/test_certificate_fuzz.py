"""A few hundred random problems of ``benchmarks/fuzz_certificates.py``: no false certificate, no crash."""

import pytest

from referee.judge import judge
from referee.random_problems import random_case


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(400))
def test_nothing_is_false_about_a_random_problem(seed):
    verdict = judge(random_case(seed))
    assert not verdict.failures, f"{verdict.case}\n" + "\n".join(
        f"{kind}: {detail}" for kind, detail in verdict.failures
    )
