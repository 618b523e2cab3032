"""What each trick of the kernel solver earns: CPU time without it, divided by CPU time with it.

Every variant of the solver runs in a process of its own (some are compiled differently), and the processes fit the same
problems in turn, so that all variants see the same load of the machine. The least CPU time of all turns counts. A trick
that earns less than 10% on every problem should be removed. Used by ``bench_kernel.py --ablation``.
"""

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace

import numpy as np

WORTH = 1.1  # least ratio that a trick must reach on some problem


def without_own_exponentials():
    from hullrank.problem.gram import Gram

    take = Gram.take
    Gram.take = lambda self, rows, **changes: take(self, rows, **{**changes, "compiled": False})


def without_own_float64_exponentials():
    import hullrank.problem._exponentials as module

    def exponentials64(block, first, last):
        np.minimum(block, 0.0, out=block)
        np.exp(block, out=block)

    module.exponentials64 = exponentials64


def without_pending_rows():
    from hullrank.problem.kernels import KernelBlocks

    KernelBlocks.exponential = property(lambda self: False)


def with_counted_references():
    from hullrank import _jit

    for options in (_jit.UNCOUNTED, _jit.INNER):
        options.pop("_nrt")


def without_inlined_functions():
    from hullrank import _jit

    _jit.INNER.pop("forceinline")


def without_vector_extremes():
    from hullrank import _jit

    _jit.fmax = _jit.njit(**_jit.INNER)(lambda a, b: a if a > b else b)
    _jit.fmin = _jit.njit(**_jit.INNER)(lambda a, b: a if a < b else b)


def without_conjugate_directions():
    from hullrank.solvers import _smo_loops

    _smo_loops.MOST_MEMBERS = 2


def _with_settings(**changes):
    from hullrank.solvers import smo

    defaults = smo.solve_by_smo.__kwdefaults__
    defaults["settings"] = replace(defaults["settings"], **changes)


def without_shrinking():
    _with_settings(shrink_least=10**9)


def without_newton_steps():
    _with_settings(patience=np.inf, stage_patience=np.inf, stable_share=-1.0)


TRICKS = {
    "own exponentials": without_own_exponentials,
    "  of these in float64": without_own_float64_exponentials,
    "rows that wait as exponents": without_pending_rows,
    "uncounted references": with_counted_references,
    "inlined functions": without_inlined_functions,
    "vectorised extremes": without_vector_extremes,
    "conjugate directions": without_conjugate_directions,
    "shrinking": without_shrinking,
    "Newton steps": without_newton_steps,
}


class Variant:
    """The solver without a trick (None: with all of them), in a process that fits one problem per request."""

    def __init__(self, trick, folder):
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        command = [sys.executable, __file__, trick or ""]
        self._process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def seconds(self, problem, C):
        self._process.stdin.write(f"{problem} {C}\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())

    def close(self):
        self._process.stdin.close()
        self._process.wait()


def serve(trick):
    """Fit what standard input asks for, and answer with CPU seconds (the least of several fits of small problems)."""
    if trick:
        TRICKS[trick]()
    from bench_kernel import HINGE, REAL
    from harness import curved_data, real_data
    from hullrank import FixedMarginClassifier

    data = {}
    FixedMarginClassifier(1.0, **HINGE, kernel="rbf").fit(*curved_data(200))
    for line in sys.stdin:
        problem, C = line.split()
        if problem not in data:
            name, _, size = problem.partition(":")
            made = real_data(name, REAL[name]) if name in REAL else curved_data(int(size), 2 if "two" in name else 5)
            data[problem] = made
        best = np.inf
        for _ in range(5 if len(data[problem][0]) <= 2000 else 1):
            began = time.process_time()
            FixedMarginClassifier(float(C), **HINGE, kernel="rbf", tol=1e-4).fit(*data[problem])
            best = min(best, time.process_time() - began)
        print(best, flush=True)


def main(problems, turns):
    """Print one line per trick with a ratio per problem; ``problems`` are pairs of a name and C."""
    print(f"{'CPU time without, over with':<30}" + "".join(f"{f'{name} C={C:g}':>24}" for name, C in problems))
    with tempfile.TemporaryDirectory() as root:
        whole = Variant(None, f"{root}/whole")
        for number, trick in enumerate(TRICKS):
            lacking = Variant(trick, f"{root}/{number}")
            ratios = []
            for problem in problems:
                pairs = [(lacking.seconds(*problem), whole.seconds(*problem)) for _ in range(turns)]
                without, with_ = np.min(pairs, axis=0)
                ratios.append(without / with_)
            lacking.close()
            verdict = "" if max(ratios) >= WORTH else "   earns less than 10%"
            print(f"{trick:<30}" + "".join(f"{ratio:>24.2f}" for ratio in ratios) + verdict, flush=True)
        whole.close()


if __name__ == "__main__":
    serve(sys.argv[1])
