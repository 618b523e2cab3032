"""The data sets that ``load_dataset`` knows, as data: where each comes from, how it reads, what it must look like.

``facts`` were taken from the copies that the published shapes and statistics confirm; every load is checked against
them, whatever it was read from. A checksum of the source's own file stands where its publisher gives one; OpenML
states one with every file, which is asked for at download. The other sources state none, so there the facts alone
tell a wrong or damaged file.
"""

from dataclasses import dataclass
from typing import Literal

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/"
LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/"
MQ2008 = "https://raw.githubusercontent.com/meta-toolkit/meta/eab9748c3c40da28619f043c99d030e1ca66401d/data/MQ2008/"
LIGHTGBM = "https://raw.githubusercontent.com/microsoft/LightGBM/v4.5.0/examples/lambdarank/"

Format = Literal["comma", "semicolon", "blank", "tab", "arff", "svmlight", "queries"]


@dataclass(frozen=True)
class Source:
    """A public file: its address (or its name at OpenML), its format, and how its fields become columns.

    ``fields`` names the fields in the file's order: "target" is the target, "-" is left out; without it the last field
    is the target and names come from the file. ``member`` is the path inside an archive, ``checksum`` is
    "algorithm:hexdigest", ``sizes`` the address of the number of rows of each query, numbered from ``first_query``.
    """

    url: str
    format: Format
    fields: str = ""
    member: str = ""
    checksum: str = ""
    header: bool = False
    sizes: str = ""
    first_query: int = 1
    save_as: str = ""

    @property
    def filename(self) -> str:
        """The name to keep the file under; ``save_as``, else the last part of the address."""
        if self.url.startswith("openml:"):
            return self.url.removeprefix("openml:") + ".arff"
        return self.save_as or self.url.rsplit("/", 1)[-1]


@dataclass(frozen=True)
class Facts:
    """Rows, features, mean target (of its code if it is a string), mean of all numeric features (None: has none)."""

    rows: int
    features: int
    target: float
    features_mean: float | None = None


@dataclass(frozen=True)
class Entry:
    """One data set. ``levels`` orders string targets, which become 1, 2, ...; ``grades`` numbers the values from 1."""

    about: str
    facts: Facts
    source: Source | None
    nominal: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    grades: bool = False
    one_hot: bool = False
    parts: tuple[str, ...] = ()


_CAR = "buying maint doors persons lug_boot safety target"
_CAR_LEVELS = ("unacc", "acc", "good", "vgood")
_CELL = "radius texture perimeter area smoothness compactness concavity concave_points symmetry fractal_dimension"
_WPBC = " ".join(f"{name}_{kind}" for kind in ("mean", "se", "worst") for name in _CELL.split())


def _openml(name: str) -> Source:
    return Source(f"openml:{name}", "arff")


CATALOGUE: dict[str, Entry] = {
    "abalone": Entry(
        "Abalone: rings (age) from size and weight",
        Facts(4177, 8, 9.93368, 0.382703),
        Source(
            UCI + "abalone/abalone.data",
            "comma",
            "Sex Length Diameter Height Whole_weight Shucked_weight Viscera_weight Shell_weight target",
        ),
        nominal=("Sex",),
    ),
    "autompg": Entry(
        "Auto-MPG: miles per gallon of cars (six with unknown horsepower left out)",
        Facts(392, 7, 23.4459, 482.148),
        Source(
            UCI + "auto-mpg/auto-mpg.data",
            "blank",
            "target cylinders displacement horsepower weight acceleration model origin -",
        ),
        nominal=("cylinders", "model", "origin"),
    ),
    "bank8FM": Entry(
        "Bank8: rejection rate of simulated bank queues", Facts(8192, 8, 0.161525, 1.65443), _openml("bank8FM")
    ),
    "bank32nh": Entry(
        "Bank32: the same, 32 features, noisier", Facts(8192, 32, 0.0836213, 1.20146), _openml("bank32nh")
    ),
    "boston_housing": Entry(
        "Boston housing: median value; contains the ethically contested attribute B",
        Facts(506, 13, 22.5328, 70.074),
        Source(
            UCI + "housing/housing.data", "blank", "CRIM ZN INDUS CHAS NOX RM AGE DIS RAD TAX PTRATIO B LSTAT target"
        ),
        nominal=("CHAS",),
    ),
    "cal_housing": Entry(
        "California housing: median house value of districts, capped at 500001",
        Facts(20640, 8, 206856, 630.906),
        Source(
            "https://ndownloader.figshare.com/files/5976036",
            "comma",
            "longitude latitude housingMedianAge totalRooms totalBedrooms population households medianIncome target",
            member="CaliforniaHousing/cal_housing.data",
            save_as="cal_housing.tgz",
            checksum="sha256:aaa5c9a6afe2225cc2aed2723682ae403280c4a3695a2ddda4ffb5d8215ea681",
        ),
    ),
    "car_raw": Entry(
        "Car evaluation: unacc < acc < good < vgood as 1..4, nominal attributes",
        Facts(1728, 6, 1.41493),
        Source(UCI + "car/car.data", "comma", _CAR),
        nominal=tuple(_CAR.split()[:-1]),
        levels=_CAR_LEVELS,
    ),
    "cpu_small": Entry(
        "CPU activity: share of time in user mode", Facts(8192, 12, 83.9689, 135460), _openml("cpu_small")
    ),
    "diabetes_cpeptide": Entry(
        "Diabetes: C-peptide from age and base deficit", Facts(43, 2, 4.74651, 0.44186), _openml("diabetes_numeric")
    ),
    "fourclass": Entry(
        "FourClass: two features, two classes, not linear",
        Facts(862, 2, -0.287703, 101.009),
        Source(LIBSVM + "fourclass", "svmlight"),
    ),
    "house_8L": Entry("House: median price of census regions", Facts(22784, 8, 50074.4, 367.972), _openml("house_8L")),
    "liver_disorders": Entry(
        "Liver disorders (BUPA): blood tests; the target is the field that papers use as label",
        Facts(345, 6, 1.57971, 42.8029),
        Source(UCI + "liver-disorders/bupa.data", "comma", "mcv alkphos sgpt sgot gammagt drinks target"),
    ),
    "machine_cpu": Entry(
        "Machine-CPU: published relative performance",
        Facts(209, 6, 105.622, 2486.02),
        Source(UCI + "cpu-performance/machine.data", "comma", "- - MYCT MMIN MMAX CACH CHMIN CHMAX target -"),
    ),
    "magic_gamma": Entry(
        "MAGIC: gamma (g) or hadron (h) showers",
        Facts(19020, 10, 0.35163, 30.6778),
        Source(
            UCI + "magic/magic04.data",
            "comma",
            "fLength fWidth fSize fConc fConc1 fAsym fM3long fM3Trans fAlpha fDist target",
        ),
    ),
    "movielens_100k": Entry(
        "MovieLens 100K: ratings of 1682 films by 943 users",
        Facts(100000, 3, 3.52986),
        Source(
            "https://files.grouplens.org/datasets/movielens/ml-100k.zip",
            "tab",
            "user_id item_id target timestamp",
            member="ml-100k/u.data",
            checksum="md5:0e33842e24a9c977be4e0107933c0723",
        ),
    ),
    "ord_ERA": Entry(
        "ERA: acceptance of job applicants, 1..9", Facts(1000, 4, 4.131, 6.85825), _openml("ERA"), grades=True
    ),
    "ord_ESL": Entry(
        "ESL: fitness of job applicants, 1..9", Facts(488, 4, 5.22951, 5.38627), _openml("ESL"), grades=True
    ),
    "ord_LEV": Entry("LEV: evaluation of lecturers, 1..5", Facts(1000, 4, 2.785, 1.95475), _openml("LEV"), grades=True),
    "ord_SWD": Entry("SWD: risk for children, 1..4", Facts(1000, 10, 2.801, 2.036), _openml("SWD"), grades=True),
    "ord_car": Entry(
        "Car evaluation, nominal attributes one-hot, 1..4",
        Facts(1728, 21, 1.41493, 6 / 21),
        Source(UCI + "car/car.data", "comma", _CAR),
        levels=_CAR_LEVELS,
        one_hot=True,
    ),
    "ord_toy": Entry("Toy: two features, five overlapping grades", Facts(300, 2, 2.91, 0.516401), None),
    "ord_winequality_red": Entry(
        "Red wine quality, 1..6",
        Facts(1599, 11, 3.63602, 8.13422),
        Source(
            UCI + "wine-quality/winequality-red.csv",
            "semicolon",
            "fixed_acidity volatile_acidity citric_acid residual_sugar chlorides free_sulfur_dioxide "
            "total_sulfur_dioxide density pH sulphates alcohol target",
            header=True,
        ),
        grades=True,
    ),
    "pyrimidines": Entry("Pyrimidines: activity of drugs", Facts(74, 27, 0.659338, 0.243701), _openml("pyrim")),
    "servo": Entry(
        "Servo: rise time of a servomechanism",
        Facts(167, 4, 1.38971, 3.34731),
        Source(UCI + "servo/servo.data", "comma", "motor screw pgain vgain target"),
        nominal=("motor", "screw", "pgain", "vgain"),
    ),
    "stock": Entry("Airplane companies: stock prices", Facts(950, 9, 46.9941, 41.0118), _openml("stock")),
    "svmguide1": Entry(
        "SVMGuide1 (astroparticles), training and test part together",
        Facts(7089, 4, 0.564254, 61.1326),
        None,
        parts=("svmguide1_train", "svmguide1_test"),
    ),
    "svmguide1_train": Entry(
        "SVMGuide1, training part", Facts(3089, 4, 0.647459, 65.3158), Source(LIBSVM + "svmguide1", "svmlight")
    ),
    "svmguide1_test": Entry(
        "SVMGuide1, test part", Facts(4000, 4, 0.5, 57.902), Source(LIBSVM + "svmguide1.t", "svmlight")
    ),
    "triazines": Entry("Triazines: activity of drugs", Facts(186, 60, 0.651871, 0.204176), _openml("triazines")),
    "wpbc": Entry(
        "Wisconsin prognostic breast cancer: months to recurrence or last seen healthy",
        Facts(194, 32, 46.9381, 87.5484),
        Source(UCI + "breast-cancer-wisconsin/wpbc.data", "comma", f"- - target {_WPBC} tumor_size lymph_node_status"),
    ),
    **{
        f"mq2008_{part}": Entry(
            f"LETOR 4.0 MQ2008, part {part}: relevance 0..2 of documents to queries",
            Facts(rows, 46, target, mean),
            Source(f"{MQ2008}{part}.txt", "queries"),
        )
        for part, rows, target, mean in (
            ("S1", 2933, 0.275145, 0.217434),
            ("S2", 3635, 0.19945, 0.215455),
            ("S3", 3062, 0.282495, 0.224121),
        )
    },
    **{
        f"lightgbm_lambdarank_{part}": Entry(
            f"LightGBM's example for ranking, {part} part: relevance 0..4",
            Facts(rows, 300, target, mean),
            Source(f"{LIGHTGBM}rank.{part}", "queries", sizes=f"{LIGHTGBM}rank.{part}.query", first_query=first),
        )
        for part, rows, target, mean, first in (
            ("train", 3005, 1.28752, 0.205254, 1),
            ("test", 768, 1.21354, 0.212839, 1001),
        )
    },
}
