"""Makes the tables that ``hullrank sample`` writes: wines and searches that never were, with an order to be learned.

Run ``python tests/datasets/make_samples.py`` after a change; a test compares the files with what it makes.
"""

from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parents[2] / "src/hullrank/datasets/tables"
GRADES = ("poor", "fair", "good", "excellent")
REGIONS = ("coast", "hills", "valley")
ESTATES = ("Alder", "Birch", "Cedar", "Elder", "Fir", "Hazel", "Juniper", "Larch", "Maple", "Oak", "Rowan", "Willow")


def wines(rng, count, first):
    """Lines of wines with their grades; the grade follows alcohol, acids and sulphates, with some noise."""
    alcohol = np.clip(rng.normal(11.8, 1.1, count), 8.5, 15).round(1)
    volatile = np.clip(rng.lognormal(-0.8, 0.35, count), 0.1, 1.5).round(2)
    fixed = np.clip(rng.normal(7.4, 1.2, count), 4.5, 12).round(1)
    sulphates = np.clip(rng.lognormal(-0.45, 0.22, count), 0.3, 1.6).round(2)
    sugar = np.clip(rng.lognormal(0.9, 0.4, count), 0.8, 14).round(1)
    year = rng.integers(2014, 2024, count)
    region, estate = rng.choice(REGIONS, count), rng.choice(ESTATES, count)
    value = (
        1.3 * (alcohol - 11.8) - 4.2 * (volatile - 0.47) + 3.0 * (sulphates - 0.65) + 0.25 * (fixed - 7.4)
        - 0.12 * (year - 2018) + 0.8 * (region == "hills") + 0.55 * rng.normal(size=count)
    )  # fmt: skip
    grade = np.array(GRADES)[np.digitize(value, [-1.5, 0.2, 1.8])]
    for i in range(count):
        acid = "" if rng.random() < 0.03 else f"{fixed[i]}"
        cells = (f"{estate[i]} {first + i}", region[i], year[i], alcohol[i], volatile[i], acid, sulphates[i], sugar[i])
        yield ",".join(map(str, cells)), grade[i]


HEAD = "wine,region,year,alcohol,volatile_acidity,fixed_acidity,sulphates,sugar"


def wine():
    """Three hundred wines with grades."""
    rows = wines(np.random.default_rng(2005), 300, 1)
    return "\n".join([f"{HEAD},grade", *(f"{row},{grade}" for row, grade in rows)]) + "\n"


def new_wine():
    """Forty more wines, which nobody has graded yet."""
    rows = wines(np.random.default_rng(2006), 40, 301)
    return "\n".join([HEAD, *(row for row, _ in rows)]) + "\n"


def searches():
    """Forty searches with eight to fourteen results each: words matched, age in days, clicks, and the relevance."""
    rng = np.random.default_rng(2010)
    lines = ["query,result,title_match,text_match,age_days,clicks,relevance"]
    for query in range(1, 41):
        easy = rng.normal()  # a search is hard or easy as a whole, which only a ranking within it can ignore
        for result in range(1, rng.integers(8, 15) + 1):
            title, text = rng.beta(1.5, 3), rng.beta(2, 2)
            age, clicks = int(rng.lognormal(5, 1)), int(rng.lognormal(2 + title, 0.8))
            value = 3 * title + 2 * text - 0.4 * (np.log(age + 1) - 5) + 0.5 * np.log(clicks + 1) + 0.5 * rng.normal()
            relevance = int(np.digitize(value + easy, [2.9, 4.1, 5.3]))
            lines.append(f"{query},{query}-{result},{title:.3f},{text:.3f},{age},{clicks},{relevance}")
    return "\n".join(lines) + "\n"


TABLES = {"wine.csv": wine, "new-wine.csv": new_wine, "searches.csv": searches}

if __name__ == "__main__":
    for name, make in TABLES.items():
        (FOLDER / name).write_text(make(), encoding="utf-8", newline="\n")
