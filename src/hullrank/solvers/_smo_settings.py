"""The settings of the kernel solver, each with its unit, its meaning and what raising it does.

The solver compares the costs of sequential steps and of Newton steps before it takes either. Both are counted in
*visits*: one visit is the work of a sequential step on one sample, a few passes over float32 vectors. Nothing here is
measured in seconds, so a machine of another speed takes the same steps.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class SmoSettings:
    """Settings of ``solve_by_smo``; the defaults suit the problems of ``benchmarks/bench_kernel.py``."""

    # Stages: the steps go on until the violation of optimality is below a target, then the target falls.
    first_target: float = 100.0
    """Target of the first stage, in tolerances times the first violation. Raising it ends the first stage earlier."""
    least_first_target: float = 0.1
    """Least target of the first stage, as a share of the first violation. Raising it ends the first stage earlier."""
    target_decay: float = 0.2
    """Factor by which the target falls between stages, at least. Raising it makes stages shorter and more numerous."""
    short_stage_decay: float = 0.018
    """The same after a stage that cost less than ``grade_visits``, where grading is the larger part of the cost.
    Raising it makes such stages more numerous."""
    overshoot: float = 0.8
    """Share of the tolerance at which the gap of the next stage is aimed. Raising it risks one stage more."""

    # Costs, in visits.
    step_visits: float = 350.0
    """Fixed cost of a sequential step. Raising it makes Newton steps come earlier, most of all on small data."""
    newton_visits: float = 2e6
    """Fixed cost of a Newton step. Raising it makes Newton steps on few rows rarer."""
    entry_visits: float = 10.0
    """Cost per entry of the Newton matrix (kernel values, solves). Raising it makes Newton steps rarer."""
    operations_per_visit: float = 40.0
    """Operations of a matrix factorisation that take as long as one visit. Raising it makes Newton steps cheaper."""
    grade_visits: float = 1e6
    """Cost of computing the gap at the end of a stage. Raising it makes the targets of short stages fall faster."""

    # When to take a Newton step.
    patience: float = 3.5
    """Cost of sequential steps within a stage after which a Newton step is taken, in costs of that Newton step. Raising
    it makes Newton steps rarer."""
    stage_patience: float = 2.5
    """The same at the end of a stage, divided by the number of stages that are left. Raising it makes Newton steps
    rarer."""
    unknown_stages: float = 1.9
    """Number of stages that are left while the gap is not known. Raising it makes the first Newton step earlier."""
    stable_share: float = 0.2
    """Share of the free rows that may change in a stage for the set of free rows to be called stable. Raising it makes
    Newton steps earlier, when they still cross many bounds."""
    left_per_free: float = 2.0
    """Number of samples expected to be left after shrinking, per sample with a free row. Raising it makes Newton steps
    earlier on data that can be shrunk."""
    full_step_discount: float = 0.3
    """Factor on the cost of a Newton step if the last one had full length. Raising it makes further ones rarer."""
    least_length: float = 0.4
    """Length (0 to 1) below which a Newton step is not taken. Raising it leaves more bounds to sequential steps."""
    damping: float = 1e-2
    """First ridge of a Newton step, in units of violation / width of the boxes. Raising it shortens the step."""

    # The active-set method for the quadratic programme of a Newton step.
    most_turns: int = 12
    """Changes of the active set before the programme is given up. Raising it allows steps that cross more bounds."""
    most_held: float = 0.75
    """Share of the rows that may be held at a bound before the programme is given up. Raising it spends more time on
    Newton steps that come too early."""

    # Shrinking: samples at a bound leave the problem for a while.
    shrink_margin: float = 1.0
    """Distance from leaving its bound beyond which a sample is shrunk, in violations. Raising it shrinks fewer."""
    shrink_least: int = 1000
    """Number of samples below which none is shrunk. Raising it saves the overhead of shrinking on small data."""
    shrink_share: float = 0.75
    """Share of the samples that may remain for shrinking to be worth its overhead. Raising it shrinks more often."""

    # Memory.
    batch_bytes: int = 1 << 21
    """Bytes of kernel rows computed at a time. Raising it makes products faster and computes more rows in vain."""
    eviction_batch: int = 4
    """Number of rows computed at a time once the cache is full. Raising it evicts more rows that are still needed."""
    batches_per_plan: int = 16
    """Number of batches for which rows to compute and to evict are chosen at once. Raising it uses older choices."""
