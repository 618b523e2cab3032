"""What the class-based estimators share: checked samples in, a certified place for every class out."""

import warnings
from dataclasses import replace
from time import perf_counter
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import compute_class_weight

from hullrank.data import Labels, Samples, check_weight_sizes, distinct_labels, encode_labels
from hullrank.exceptions import CollapsedRankingWarning, HullrankError, LabelError, NotSeparableError
from hullrank.models._block_samples import LEAST_ROOM, MEMORY, FirstPass, encode, first_pass, rows_held
from hullrank.models._constraints import CLASS_CONSTRAINTS
from hullrank.models._kernel import KernelMixin
from hullrank.models._scales import warn_of_scales
from hullrank.models.base import ScoreLineEstimator, warn_unless_converged
from hullrank.order import OrderGraph, resolve_order
from hullrank.problem.block_rows import BlockRows
from hullrank.problem.block_statement import BlockStatement
from hullrank.problem.certificate import Certificate, Status
from hullrank.problem.charges import Charge
from hullrank.problem.grouped_classes import GroupedClasses, balanced, order_among, side_by_side, split_by_group
from hullrank.problem.interval_statement import IntervalStatement
from hullrank.problem.intervals import IntervalProblem
from hullrank.problem.kernel_space import KernelSpace
from hullrank.problem.near_rows import rows_repeat
from hullrank.problem.statement import Solution, certificate
from hullrank.solvers.base import Options
from hullrank.solvers.solve import solve

Floats = NDArray[np.float64]
Groups = tuple[NDArray[np.intp], NDArray[Any]]


class IntervalEstimator(KernelMixin, ScoreLineEstimator):
    """An estimator whose statement is an interval problem over classes.

    `hullrank.models.grouped.GroupedIntervalEstimator` adds ``fit`` and ``state``; its subclasses say which problem
    (``_problem``) and how its thresholds are read from the fitted attributes (``_stored_thresholds``).
    """

    _discrete: ClassVar[bool] = True  # whether labels must be grades rather than real numbers
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = CLASS_CONSTRAINTS
    order: Any = "chain"  # the values, down to ``warm_start``, for estimators that do not offer these parameters
    classes: Any = None
    class_weight: Any = None
    warm_start: bool = False
    certificate_: Certificate

    def _fit_blocks(self, blocks: BlockRows, source: Any, began: float) -> Self:
        """Fit to rows in blocks: to all of them at once where memory holds them, else by sums over the blocks."""
        if self._has_kernel or self.monotonic_cst is not None:
            raise HullrankError(
                "rows in blocks are placed by linear scores of any sign; use kernel='linear' without approximation, "
                "norm and monotonic_cst, or data in memory"
            )
        discrete = self._discrete and self.classes is None
        memory = int(getattr(source, "memory", None) or MEMORY)
        found = first_pass(blocks, len(source), memory, getattr(source, "gathers", True), discrete)
        names = getattr(source, "feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = names
        self.n_features_in_ = found.n_features
        warn_of_scales(self, found.sample[0])
        if found.whole is not None:
            X, values, weights = found.whole
            statement: Any = self._statement_of(X, found.as_target(values), values, weights)
        else:
            statement = self._state_blocks(blocks, found, rows_held(memory, found), discrete)
        self._learn(statement, began)
        self.certificate_ = replace(self.certificate_, passes=blocks.passes)
        return self

    def _state_blocks(self, blocks: BlockRows, found: FirstPass, room: int, discrete: bool) -> BlockStatement:
        """The problem over blocks of which ``room`` rows may be held, after the first pass."""
        X, values, weights = found.sample
        labels, graph = self._placed_labels(found.as_target(values), values)
        items = labels.classes.tolist()
        totals = np.array([found.weights[label] for label in items])
        factors = self._class_weights(labels, totals)
        square = found.spread**2 if found.mean is not None and np.ptp(factors) == 0 else None
        samples = Samples(X, labels.codes, weights * factors[labels.codes], len(items), square)
        problem = self._problem_among(graph, samples, None, None)
        if problem.charge is Charge.HARD:
            raise HullrankError("C=inf asks for a hard margin, which needs all rows in memory; use a finite C")
        codes = {label: code for code, label in enumerate(items)}
        rows = blocks.map(encode, codes, factors, discrete)
        counts = np.array([found.counts[label] for label in items])
        room = max(room, LEAST_ROOM, 20 * (found.n_features + len(problem.linear)))
        repeats = rows_repeat(samples, int(counts.sum()))
        return BlockStatement(
            problem, rows, samples, counts, found.mean, found.spread, labels.classes, graph, room=room, repeats=repeats
        )

    def _statement_of(
        self, X: Any, y: Any, values: NDArray[Any], weights: Floats, groups: Groups | None = None
    ) -> IntervalStatement:
        """The problem on checked data; ``groups`` are the number of every row's group, and their labels."""
        labels, order, samples, positions = self._weighted_samples(X, y, values, weights)
        signs = self._signs(samples.X.shape[1])
        space = self._space(samples.X, samples.weights, ranks=(samples.codes, None) if order.is_total else None)
        grouped = None
        if groups is not None:
            grouped, samples = split_by_group(samples, groups[0][positions], groups[1])
            if isinstance(self.class_weight, str):
                samples = balanced(samples)
        problem = self._problem_among(order, samples, space, grouped)
        if space is not None and problem.l1:
            raise HullrankError("penalty='l1' works on features, not on a kernel; use kernel='linear' or penalty='l2'")
        return IntervalStatement(problem, samples, positions, labels.classes, order, space, signs, grouped)

    def _problem(self, order: OrderGraph, samples: Samples, space: KernelSpace | None) -> IntervalProblem:
        raise NotImplementedError

    def _problem_among(
        self, order: OrderGraph, samples: Samples, space: KernelSpace | None, grouped: GroupedClasses | None
    ) -> IntervalProblem:
        """The problem over classes, or those of all groups side by side; a group may have no classes to compare."""
        if grouped is None:
            return self._problem(order, samples, space)
        problems: list[IntervalProblem | None] = []
        for group in range(grouped.n_groups):
            part = order_among(order, grouped.classes_of(group))
            counted = replace(samples, n_classes=len(part))
            problems.append(self._problem(part, counted, space) if part.n_edges else None)
        return side_by_side(problems, grouped.sizes)

    def _restate(self, statement: IntervalStatement) -> IntervalStatement:
        """The same data (and kernel) with the C and the loss that the estimator has now."""
        problem = self._problem_among(statement.order, statement.samples, statement.space, statement.grouped)
        return replace(statement, problem=problem)

    def _learn(self, statement: IntervalStatement, began: float, start: Any = None) -> Any:
        """Solve, store, and grade what was stored; returns what a solve of a neighbouring problem may start from."""
        solution = self._solve(statement, start)
        if solution.scores is None:
            solution = replace(solution, scores=statement.scores(solution.point))
        self._store(statement, solution)
        self._store_label_rule(statement, solution)
        self._grade(statement, solution, began)
        end = solution.point if solution.start is None else solution.start
        if self.warm_start:
            self._warm = _shape(statement), end
        return end

    def _stored_thresholds(self, statement: IntervalStatement) -> Floats:
        raise NotImplementedError

    def _weighted_samples(
        self, X: Any, y: Any, values: NDArray[Any], weights: Floats
    ) -> tuple[Labels, OrderGraph, Samples, NDArray[np.intp]]:
        """Rows of positive weight with their class, classes in topological order; class weights multiply weights.

        Last the numbers of these rows in the data as given.
        """
        kept = np.flatnonzero(weights)
        if len(kept) < len(weights):
            X, values, weights = self._take(X, kept), values[kept], weights[kept]
        labels, graph = self._placed_labels(y, values)
        if self.class_weight is not None:
            totals = np.bincount(labels.codes, weights).astype(np.float64, copy=False)
            weights = weights * self._class_weights(labels, totals)[labels.codes]
            check_weight_sizes(weights, "sample_weight times class_weight", kept)
        return labels, graph, Samples(X, labels.codes, weights, len(labels.classes)), kept

    def _placed_labels(self, y: Any, values: NDArray[Any]) -> tuple[Labels, OrderGraph]:
        """Codes in topological order of the graph, that of the fitted model if it is fitted; two classes or more."""
        labels, graph = place_labels(y, values, self.classes, getattr(self, "order_", self.order))
        if len(labels.classes) < 2:
            raise LabelError(
                f"y has only one class, {labels.classes.tolist()[0]!r}, among the samples of positive weight; "
                "ranking needs two"
            )
        return labels, graph

    def _class_weights(self, labels: Labels, totals: Floats) -> Floats:
        """The factor of every class, from the weight of its samples."""
        if self.class_weight is None:
            return np.ones(len(labels.classes))
        if isinstance(self.class_weight, str):  # "balanced"
            return totals.sum() / len(totals) / totals
        per_class = compute_class_weight(self.class_weight, classes=labels.classes, y=labels.classes)
        if not (np.isfinite(per_class) & (per_class > 0)).all():
            odd = int(np.argmin(np.isfinite(per_class) & (per_class > 0)))
            raise HullrankError(
                f"class_weight gives class {labels.classes.tolist()[odd]!r} the weight {per_class[odd]:g}; class "
                "weights must be positive and finite"
            )
        return per_class

    def _solve(self, statement: IntervalStatement, start: Any) -> Solution:
        """Solve the problem; a hard margin on inseparable data is an error that names a violated pair."""
        options = Options(self.tol, self.max_iter, self.verbose, self.cache_size)
        solution = solve(statement, options, start)
        if solution.status is Status.NOT_SEPARABLE:
            raise NotSeparableError(_violated_pair(statement, solution))
        return solution

    def _store(self, statement: IntervalStatement, solution: Solution) -> None:
        """The fitted attributes that all class-based estimators have."""
        samples = statement.samples
        self.classes_ = statement.classes
        self.order_ = statement.order
        self._store_weights(statement, samples.X, solution.point.coef, samples.rows)
        if statement.space is not None:
            self.n_support_ = np.bincount(samples.codes[solution.point.coef != 0], minlength=samples.n_classes)
        self.intervals_ = class_intervals(statement.problem, solution.point.thresholds, samples.n_classes)
        if statement.order.is_total and statement.grouped is None:
            self.thresholds_ = (self.intervals_[:-1, 1] + self.intervals_[1:, 0]) / 2
        self.n_iter_ = solution.iterations

    def _store_label_rule(self, statement: IntervalStatement, solution: Solution) -> None:
        """What predicting labels needs beside the intervals, of estimators that have a rule of their own."""

    def _grade(self, statement: IntervalStatement, solution: Solution, began: float) -> None:
        """The certificate of what was stored, and the warnings that it asks for."""
        point, scores = self.candidate(statement), solution.scores
        assert scores is not None  # ``_learn`` sees to it
        grade = statement.grade(point, solution.evidence, scores)
        self.certificate_ = certificate(statement, grade, solution, self.tol, perf_counter() - began)
        if self.certificate_.status is not Status.INTERRUPTED:  # scores of an interrupted fit say nothing about C
            self._warn_if_collapsed(statement, scores)  # first, since it may be an error, which says all
        warn_unless_converged(self.certificate_, self.tol)

    def _warn_if_collapsed(self, statement: IntervalStatement, scores: Floats) -> None:
        if self._has_collapsed(scores):
            warn_collapsed(f"all scores are equal; {self._collapse_cure(statement)}")

    def _has_collapsed(self, scores: Floats) -> bool:
        return has_collapsed(self.intervals_, scores)

    def _collapse_cure(self, statement: IntervalStatement) -> str:
        """What may help, of estimators whose price of slack is not a parameter ``C``."""
        return "charge slack more, or use features that say something about y"

    def _warm_start_for(self, statement: IntervalStatement) -> Any:
        """Where the last fit ended, if it was kept and rows and classes are as many as then."""
        shape, start = getattr(self, "_warm", (None, None))
        return start if shape == _shape(statement) else None


def _shape(statement: IntervalStatement) -> tuple[Any, ...]:
    """What two problems must have in common for the solution of one to start the other."""
    problem, samples = statement.problem, statement.samples
    width = samples.X.shape[1] if statement.space is None else -1
    return tuple(samples.starts.tolist()), width, problem.n_groups, len(problem.up), problem.charge.name


def place_labels(y: Any, values: NDArray[Any], classes: Any, order: Any) -> tuple[Labels, OrderGraph]:
    """Codes in topological order of the graph, which names the labels itself unless it is a chain or full."""
    if isinstance(order, str) and order in ("chain", "full"):
        labels = encode_labels(y, values, classes)
        return labels, resolve_order(order, labels.classes)
    graph = resolve_order(order, distinct_labels(values))
    if graph.n_edges == 0:
        raise LabelError(f"the order {graph} has no edges, so that no class lies above another; declare at least one")
    if classes is not None:
        _check_agreement(graph, list(classes))
    return encode_labels(y, values, graph.labels), graph


def _check_agreement(graph: OrderGraph, classes: list[Any]) -> None:
    """Classes beside an order graph must be its labels, in an order that the graph allows."""
    graph.check_classes(classes)
    for lo, hi in graph.reduction().edges:
        if classes.index(lo) > classes.index(hi):
            raise LabelError(f"classes={classes} puts {hi!r} below {lo!r}, but the order says {lo!r} < {hi!r}")


def class_intervals(problem: IntervalProblem, theta: Floats, n_classes: int) -> Floats:
    """(K, 2): where every class must lie, [max over its lower rows, min over its upper rows]."""
    offsets = problem.offsets(theta)
    ends = np.full((n_classes, 2), (-np.inf, np.inf))
    lower = problem.sign > 0
    np.maximum.at(ends[:, 0], problem.group_class[lower], offsets[lower])
    np.minimum.at(ends[:, 1], problem.group_class[~lower], -offsets[~lower])
    return ends


def has_collapsed(intervals: Floats, scores: Floats) -> bool:
    """Whether scores range over less than 1e-6 of the distance between neighbouring classes."""
    return float(np.ptp(scores)) <= 1e-6 * _margin(intervals)


def are_crossed(intervals: Floats) -> bool:
    """Whether some inner class has its lower end above its upper end."""
    lower, upper = intervals.T
    inner = np.isfinite(lower) & np.isfinite(upper)
    return bool(np.any(lower[inner] - upper[inner] > 1e-6 * _margin(intervals)))


def _margin(intervals: Floats) -> float:
    """The distance between neighbouring classes: from the lowest upper to the highest lower end, per step."""
    lower, upper = intervals.T
    return float(lower[np.isfinite(lower)].max() - upper[np.isfinite(upper)].min()) / max(len(intervals) - 1, 1)


def warn_collapsed(cure: str) -> None:
    """The optimum of the stated problem ranks nothing; say what to change."""
    warnings.warn(f"the ranking has collapsed: {cure}", CollapsedRankingWarning, stacklevel=5)


def _violated_pair(statement: IntervalStatement, solution: Solution) -> str:
    """The two samples along an edge that overlap most in the best soft direction, by their numbers in X."""
    scores = statement.scores(solution.point)
    order, samples, rows = statement.order, statement.samples, statement.positions
    members = np.split(samples.rows, samples.starts[1:-1])
    top = np.array([each[np.argmax(scores[each])] for each in members])
    bottom = np.array([each[np.argmin(scores[each])] for each in members])
    below, above = _cell_edges(statement)
    worst = np.argmax(scores[top[below]] - scores[bottom[above]])
    lo, hi = below[worst], above[worst]
    name = order.labels if statement.grouped is None else [order.labels[c] for c in statement.grouped.cls]
    return (
        f"C=inf asks for a hard margin, but the data cannot be separated{where(statement.space)}: for instance row "
        f"{rows[top[lo]]} (class {name[lo]!r}) cannot be placed below row {rows[bottom[hi]]} (class {name[hi]!r}) "
        "together with all others; use a finite C"
    )


def where(space: KernelSpace | None) -> str:
    """In which functions, if these are restricted."""
    return f", where {space.span}" if space is not None and space.is_approximate else ""


def _cell_edges(statement: IntervalStatement) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Edges (below, above) between the classes, or between the cells of every group."""
    grouped = statement.grouped
    if grouped is None:
        below, above = statement.order.reduction().codes.T
        return below, above
    edges = statement.order.closure().codes
    number = {(g, c): b for b, (g, c) in enumerate(zip(grouped.group.tolist(), grouped.cls.tolist(), strict=True))}
    pairs = [(number.get((g, lo)), number.get((g, hi))) for g in range(grouped.n_groups) for lo, hi in edges.tolist()]
    below, above = np.array([pair for pair in pairs if None not in pair], dtype=np.int64).T
    return below, above
