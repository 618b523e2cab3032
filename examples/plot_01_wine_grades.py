"""
Grades of wine
==============

A table of 300 wines, each with a grade from poor to excellent. The task is to learn a score from the
measurements such that better grades lie higher, and thresholds that cut the score line into grades. The table
comes with hullrank and is made up; ``hullrank sample wine.csv`` writes it to a file.
"""

# %%
# Words, numbers and missing cells: ``TableEncoder`` makes a matrix of all of them. The name of a wine tells
# nothing, so that column is left out.
from importlib.resources import files

from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from hullrank import FixedMarginClassifier, ScoreLineDisplay
from hullrank.io import TableEncoder, read_table
from hullrank.metrics import mean_absolute_rank_error

GRADES = ["poor", "fair", "good", "excellent"]
table = read_table(files("hullrank") / "datasets" / "tables" / "wine.csv")
X, y = table.drop("wine", "grade"), table["grade"].to_numpy()
train, test = train_test_split(range(len(y)), test_size=0.4, stratify=y, random_state=0)

model = make_pipeline(TableEncoder(), FixedMarginClassifier(C=1.0, classes=GRADES))
model.fit(X[train], y[train])
print(model[-1].certificate_)

# %%
# The picture shows wines that the model has not seen. Every row is a grade; the band of the same colour is
# where the model puts that grade. What lies in its band is solid, what lies beyond is pale. On the right: how
# many pairs of neighbouring grades are in the right order.
display = ScoreLineDisplay.from_estimator(model, X[test], y[test])
error = mean_absolute_rank_error(y[test], model.predict(X[test]), classes=GRADES)
print(f"pair accuracy {display.pair_accuracy_:.3f}, mean distance from the true grade {error:.2f} grades")

# %%
# Which measurements matter, by the weights of the standardised columns:
weights = zip(model[:-1].get_feature_names_out(), model[-1].coef_, strict=True)
for name, weight in sorted(weights, key=lambda pair: -abs(pair[1]))[:5]:
    print(f"{name:20} {weight:+.2f}")
