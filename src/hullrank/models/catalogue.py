"""The methods as data: what each places on the score line, under which order, margin, slack and charge."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Method:
    """A row of the table of methods; ``estimator`` with ``parameters`` solves it.

    A sample (or pair) pays ``charge`` for missing its margin; slack is *per sample* (its distance from the interval of
    its class), *per side* (one for each neighbouring class), *per threshold*, *per edge*, or *per pair*.
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


FUNG = "Fung, Rosales and Krishnapuram 2005"
SHASHUA = "Shashua and Levin 2002"
CHU = "Chu and Keerthi 2007"
SWAPPED = "SVM multi Delta-SP"
HERBRICH = "Herbrich, Graepel and Obermayer 2000"
BERTSIMAS = "Bertsimas, Chang and Rudin 2010"

HULL = ("classes", "any acyclic", "fixed")
CHAIN = ("classes", "chain")
PAIRS = ("samples", "full", "fixed", "per pair")

CATALOGUE = (
    Method("convex-hull ranking", FUNG, "ConvexHullRanker", *HULL, "per sample", "squared hinge"),
    Method(
        "convex-hull ranking, hinge", FUNG, "ConvexHullRanker", *HULL, "per sample", "hinge", {"loss": "hinge"}
    ),
    Method(
        "convex-hull ranking, free intervals", FUNG, "ConvexHullRanker", *HULL, "per sample", "squared hinge",
        {"intervals": "free"},
    ),
    Method(
        "convex-hull ranking by edges", FUNG, "ConvexHullRanker", *HULL, "per edge", "squared hinge", {"slack": "edge"}
    ),
    Method(
        "fixed margin, immediate thresholds", SHASHUA, "FixedMarginClassifier", *CHAIN, "fixed", "per side", "hinge"
    ),
    Method(
        "fixed margin, all thresholds", CHU, "FixedMarginClassifier", *CHAIN, "fixed", "per threshold", "hinge",
        {"thresholds": "all"},
    ),
    Method(
        "fixed margin, squared", SHASHUA, "FixedMarginClassifier", *CHAIN, "fixed", "per side", "squared hinge",
        {"loss": "squared_hinge"},
    ),
    Method("nu margin", SHASHUA, "NuMarginClassifier", *CHAIN, "nu", "per side", "hinge"),
    Method("sum of margins", SHASHUA, "SumOfMarginsClassifier", *CHAIN, "sum", "per side", "hinge"),
    Method("swapped pairs", SWAPPED, "SwappedPairsRanker", *PAIRS, "hinge"),
    Method("swapped pairs, squared", SWAPPED, "SwappedPairsRanker", *PAIRS, "squared hinge", {"loss": "squared_hinge"}),
    Method("sampled pairs", HERBRICH, "SampledPairsRanker", "samples", "random pairs", "fixed", "per pair", "hinge"),
    Method("exact AUC", BERTSIMAS, "ExactRanker", "samples", "full", "any", "per pair", "0-1"),
)  # fmt: skip
