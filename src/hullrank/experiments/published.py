"""The figures that the papers print, as data."""

from typing import NamedTuple


class Score(NamedTuple):
    """Mean and standard deviation over trials."""

    mean: float
    sd: float


class PairsRow(NamedTuple):
    """A row of table 1 of the swapped-pairs paper: sizes, and % of swapped pairs of the three methods."""

    title: str
    n_train: int
    n_test: int
    svor: Score
    herbrich: Score
    swapped: Score


PAIRS = {
    "diabetes_cpeptide": PairsRow("Diabetes", 30, 13, Score(31.50, 7.79), Score(30.74, 8.58), Score(30.82, 7.07)),
    "pyrimidines": PairsRow("Pyrimidines", 50, 24, Score(22.37, 5.12), Score(20.42, 3.31), Score(18.86, 3.43)),
    "servo": PairsRow("Servo", 100, 67, Score(20.61, 3.07), Score(18.18, 2.21), Score(16.51, 2.75)),
    "triazines": PairsRow("Triazines", 100, 86, Score(34.33, 2.87), Score(36.64, 2.96), Score(34.84, 2.93)),
    "wpbc": PairsRow("Wpbc", 130, 64, Score(36.17, 3.73), Score(36.73, 3.89), Score(36.17, 3.93)),
    "machine_cpu": PairsRow("MachineCPU", 150, 59, Score(14.76, 2.04), Score(13.82, 1.82), Score(13.96, 2.24)),
    "autompg": PairsRow("AutoMPG", 200, 192, Score(9.44, 0.63), Score(9.37, 0.73), Score(9.22, 0.61)),
    "boston_housing": PairsRow("Boston", 200, 306, Score(13.15, 0.74), Score(12.42, 0.85), Score(12.37, 1.08)),
    "stock": PairsRow("Stock", 200, 750, Score(10.25, 0.69), Score(6.12, 0.59), Score(5.36, 0.64)),
    "abalone": PairsRow("Abalone", 200, 3977, Score(19.50, 0.52), Score(19.41, 0.60), Score(19.55, 0.69)),
    "bank8FM": PairsRow("Bank8", 200, 7992, Score(6.92, 0.25), Score(7.04, 0.24), Score(7.00, 0.51)),
    "bank32nh": PairsRow("Bank32", 200, 7992, Score(23.48, 0.96), Score(23.63, 1.36), Score(23.07, 0.84)),
}


class ExactRow(NamedTuple):
    """Rows of tables 1 and 2 of Bertsimas et al.: AUC in % (RankBoost, logistic, SVM, LP, MIP), and wins of ten."""

    title: str
    n_train: int
    n_test: int
    train: tuple[float, float, float, float, float]
    test: tuple[float, float, float, float, float]
    wins: tuple[int, int, int, int, int]


EXACT = {
    "liver_disorders": ExactRow(
        "Liver disorders", 172, 173,
        (73.6621, 74.0374, 74.2802, 74.2816, 75.3802), (70.6463, 70.8567, 70.9705, 70.9691, 71.0257), (1, 1, 3, 3, 5),
    ),
    "roc_flexibility": ExactRow(
        "ROC Flexibility", 250, 250,
        (71.0959, 72.0945, 71.1840, 70.6327, 80.6163), (65.9028, 67.4607, 67.7844, 67.1797, 81.7706), (0, 0, 0, 0, 10),
    ),
    "fourclass": ExactRow(
        "FourClass", 431, 431,
        (83.0278, 82.9907, 83.1853, 83.1857, 83.2230), (82.8790, 82.8050, 83.0438, 83.0492, 82.9861), (1, 1, 0, 3, 5),
    ),
    "svmguide1": ExactRow(
        "SVMGuide1", 700, 6389,
        (99.1929, 99.2255, 99.2330, 99.2327, 99.2384), (99.0520, 99.0563, 99.0649, 99.0651, 99.0642), (1, 3, 0, 2, 4),
    ),
    "abalone": ExactRow(
        "Abalone", 1000, 3177,
        (91.3733, 91.4723, 91.5078, 91.5067, 91.5135), (90.5580, 90.6139, 90.6415, 90.6411, 90.6419), (1, 1, 2, 2, 4),
    ),
    "magic_gamma": ExactRow(
        "Magic", 1000, 18020,
        (84.0105, 84.0280, 84.4880, 84.4903, 84.4943), (83.5273, 83.5984, 83.9349, 83.9365, 83.9370), (0, 0, 2, 4, 4),
    ),
}  # fmt: skip

HULL = {
    "abalone": "Abalone",
    "stock": "Airplane companies",
    "autompg": "Auto-MPG",
    "cal_housing": "California housing",
    "boston_housing": "Boston housing",
    "machine_cpu": "Machine-CPU",
    "pyrimidines": "Pyrimidines",
    "triazines": "Triazines",
    "wpbc": "Wisconsin breast cancer",
}  # in the order of table 1 of Fung et al.; figure 3 prints no numbers

RATINGS = {"fixed margin": 0.7, "PRank": 1.25}  # mean rank error on EachMovie, read by Shashua and Levin off figure 5
