"""Without ``slow``, laws are tried on half as many examples, and modules that are slow as a whole are not imported."""

import os
import re
import signal

from hypothesis import settings

# There is a worker for every core, and more threads of BLAS would only wait for each other. NumPy reads this when it is
# loaded; tests/test_threads.py asks for more threads by itself.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A busy machine, or a first compilation, must not fail a law: there is no deadline. Laws see the same examples in every
# run, so that a change is judged by itself; the fuzz scripts of benchmarks/ look for new ones.
settings.register_profile("hullrank", deadline=None, derandomize=True)
settings.register_profile("quick", deadline=None, derandomize=True, max_examples=50)
SLOW_AS_A_WHOLE = re.compile(r"^pytestmark = .*pytest\.mark\.slow", re.MULTILINE)


def _is_quick(config):
    return config.option.markexpr == "not slow"


def pytest_configure(config):
    # What a script starts in the background ignores Ctrl-C, and so would every process that a test starts and stops.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    settings.load_profile("quick" if _is_quick(config) else "hullrank")


def pytest_ignore_collect(collection_path, config):
    if _is_quick(config) and collection_path.suffix == ".py" and SLOW_AS_A_WHOLE.search(collection_path.read_text()):
        return True
    return None
