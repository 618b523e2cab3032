"""The methods as data: what each places on the score line, under which order, margin, slack and charge.

The command takes its methods from here, the documentation its table, and the tests walk the rows. A new method is a new
row: an estimator with ``parameters``, and, if the command should know it, a name and what it is for.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Method:
    """A row of the table of methods; ``estimator`` with ``parameters`` solves it.

    A sample (or pair) pays ``charge`` for missing its margin; slack is *per sample* (its distance from the interval of
    its class), *per side* (one for each neighbouring class), *per threshold*, *per edge*, or *per pair*. ``command`` is
    its name on the command line (None: it has none), and ``purpose`` says in one line what it is for. A ``rival`` is
    there to be compared with, and proves nothing.
    """

    name: str
    source: str
    estimator: str
    blocks: str
    graph: str
    margin: str
    slack: str
    charge: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    command: str | None = None
    purpose: str = ""
    rival: bool = False


FUNG = "Fung, Rosales and Krishnapuram 2005"
SHASHUA = "Shashua and Levin 2002"
CHU = "Chu and Keerthi 2007"
RENNIE = "Rennie and Srebro 2005"
SWAPPED = "SVM multi Delta-SP"
HERBRICH = "Herbrich, Graepel and Obermayer 2000"
BURGES = "Burges et al. 2005"
BERTSIMAS = "Bertsimas, Chang and Rudin 2010"
CRAMMER = "Crammer and Singer 2002"
FREUND = "Freund, Iyer, Schapire and Singer 2003"

HULL = ("classes", "any acyclic", "fixed")
CHAIN = ("classes", "chain")
PAIRS = ("samples", "full", "fixed", "per pair")

CATALOGUE = (
    Method(
        "convex-hull ranking", FUNG, "ConvexHullRanker", *HULL, "per sample", "squared hinge", command="hull",
        purpose="grades in any order, also a partial one; the place of every grade on the score line",
    ),
    Method(
        "convex-hull ranking, hinge", FUNG, "ConvexHullRanker", *HULL, "per sample", "hinge", {"loss": "hinge"}
    ),
    Method(
        "convex-hull ranking, logistic", FUNG, "ConvexHullRanker", *HULL, "per side", "logistic", {"loss": "logistic"}
    ),
    Method(
        "convex-hull ranking, free intervals", FUNG, "ConvexHullRanker", *HULL, "per sample", "squared hinge",
        {"intervals": "free"},
    ),
    Method(
        "convex-hull ranking by edges", FUNG, "ConvexHullRanker", *HULL, "per edge", "squared hinge",
        {"slack": "edge"}, "hull-edges",
        "the same, with a slack for every edge of the order; for partial orders with noise",
    ),
    Method(
        "convex-hull ranking, few features", FUNG, "ConvexHullRanker", *HULL, "per sample", "squared hinge",
        {"penalty": "l1"}, "hull-l1", "the same with few features: most weights are exactly zero",
    ),
    Method(
        "fixed margin, all thresholds, squared", CHU, "FixedMarginClassifier", *CHAIN, "fixed", "per threshold",
        "squared hinge", command="fixed-margin",
        purpose="grades in one line, cut by margins of 1; rows pay at every threshold, so that large errors cost more",
    ),
    Method(
        "fixed margin, all thresholds", CHU, "FixedMarginClassifier", *CHAIN, "fixed", "per threshold", "hinge",
        {"loss": "hinge"}, "all-thresholds",
        "the same with the hinge of Chu and Keerthi: rows that contradict the rest pull less",
    ),
    Method(
        "fixed margin, immediate thresholds", SHASHUA, "FixedMarginClassifier", *CHAIN, "fixed", "per side", "hinge",
        {"loss": "hinge", "thresholds": "immediate"}, "immediate-thresholds",
        "the same where a row pays at the thresholds of its own grade only: more grades exactly right",
    ),
    Method(
        "fixed margin, squared", SHASHUA, "FixedMarginClassifier", *CHAIN, "fixed", "per side", "squared hinge",
        {"thresholds": "immediate"},
    ),
    Method(
        "immediate thresholds, logistic", RENNIE, "FixedMarginClassifier", *CHAIN, "fixed", "per side", "logistic",
        {"loss": "logistic", "thresholds": "immediate"},
    ),
    Method(
        "all thresholds, logistic", RENNIE, "FixedMarginClassifier", *CHAIN, "fixed", "per threshold", "logistic",
        {"loss": "logistic"}, "logistic",
        "grades in one line by logistic regression: smooth, and a natural step to probabilities",
    ),
    Method(
        "nu margin", SHASHUA, "NuMarginClassifier", *CHAIN, "nu", "per side", "hinge", command="nu-margin",
        purpose="grades in one line; nu bounds the share of rows within the margin",
    ),
    Method(
        "sum of margins", SHASHUA, "SumOfMarginsClassifier", *CHAIN, "sum", "per side", "hinge",
        command="sum-of-margins", purpose="grades in one line, with a margin of its own between every two of them",
    ),
    Method(
        "swapped pairs", SWAPPED, "SwappedPairsRanker", *PAIRS, "hinge", command="swapped-pairs",
        purpose="numbers, grades or queries: as few wrongly ranked pairs as possible, over all pairs",
    ),
    Method("swapped pairs, squared", SWAPPED, "SwappedPairsRanker", *PAIRS, "squared hinge", {"loss": "squared_hinge"}),
    Method("swapped pairs, logistic", BURGES, "SwappedPairsRanker", *PAIRS, "logistic", {"loss": "logistic"}),
    Method(
        "sampled pairs", HERBRICH, "SampledPairsRanker", "samples", "random pairs", "fixed", "per pair", "hinge",
        command="sampled-pairs", purpose="the same over a few random pairs of every row",
    ),
    Method(
        "exact AUC", BERTSIMAS, "ExactRanker", "samples", "full", "any", "per pair", "0-1", command="exact",
        purpose="small data: the best possible pair accuracy itself, proven by search",
    ),
    Method(
        "perceptron ranking", CRAMMER, "PRank", *CHAIN, "any", "per threshold", "0-1", command="prank",
        purpose="a perceptron for grades, one pass after the other; for comparison", rival=True,
    ),
    Method(
        "boosted ranking", FREUND, "RankBoost", "samples", "full", "any", "per pair", "exponential",
        command="rankboost", purpose="boosted stumps: bends that a weighted sum cannot follow; for comparison",
        rival=True,
    ),
)  # fmt: skip


def commands() -> dict[str, Method]:
    """The methods that have a name on the command line, by that name."""
    return {method.command: method for method in CATALOGUE if method.command is not None}
