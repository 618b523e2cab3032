"""An order written with other signs is answered by the same order with <, never by an alphabetical one."""

import pytest

ROWS = "size,grade\n1,{0}\n2,{1}\n3,{2}\n1.5,{0}\n2.5,{1}\n3.5,{2}\n"


@pytest.fixture
def refused(run_here, tmp_path):
    """The sentence about an order of three grades."""

    def command(order, *grades):
        (tmp_path / "d.csv").write_text(ROWS.format(*grades))
        done = run_here("fit", tmp_path / "d.csv", "-t", "grade", "--order", order, "-o", tmp_path / "m.hull")
        assert done.code == 1
        return done.err

    return command


@pytest.mark.parametrize(
    "order",
    [
        "schlecht, mittel, gut",
        "schlecht,mittel,gut",
        "schlecht mittel gut",
        "schlecht; mittel; gut",
        "schlecht -> mittel -> gut",
        "schlecht=>mittel=>gut",
        "schlecht | mittel | gut",
        "Schlecht, Mittel, Gut",
        "'schlecht', 'mittel', 'gut'",
    ],
)
def test_the_users_own_order_is_proposed(refused, order):
    assert "has no <; did you mean --order 'schlecht < mittel < gut', lowest first?" in refused(
        order, "schlecht", "mittel", "gut"
    )


def test_grades_of_several_words(refused):
    told = refused("very bad, not good, fine", "very bad", "not good", "fine")
    assert "did you mean --order 'very bad < not good < fine', lowest first?" in told


@pytest.mark.parametrize("order", ["schlecht, mittel", "schlecht, mittel, gut, best", "bad", "schlecht, gut, gut"])
def test_other_words_are_answered_by_an_example_that_says_that_it_is_alphabetical(refused, order):
    told = refused(order, "schlecht", "mittel", "gut")
    assert "--order 'gut < mittel < schlecht', put into the right order, lowest first (here it is alphabetical)" in told


def test_grades_that_differ_by_case_alone_are_not_guessed(refused):
    assert "put into the right order" in refused("good, Good, fine", "good", "Good", "fine")


def test_no_order_at_all(run_here, tmp_path):
    (tmp_path / "d.csv").write_text(ROWS.format("bad", "fair", "best"))
    done = run_here("fit", tmp_path / "d.csv", "-t", "grade", "-o", tmp_path / "m.hull")
    assert "say which is higher: --order 'bad < best < fair', put into the right order, lowest first" in done.err


def test_words_that_differ_in_every_row_are_asked_about(run_here, tmp_path):
    (tmp_path / "d.csv").write_text("size,number\n" + "".join(f"{i % 7},K-{i}\n" for i in range(190)))
    done = run_here("fit", tmp_path / "d.csv", "-t", "number", "-o", tmp_path / "m.hull")
    assert done.code == 1
    assert "190 different words in 190 rows: is this an id? Give the column that holds the grades" in done.err
    assert "--order" not in done.err
    (tmp_path / "d.csv").write_text("size,grade\n1,a\n2,b\n3,c\n")
    assert "say which is higher" in run_here("fit", tmp_path / "d.csv", "-t", "grade", "-o", tmp_path / "m.hull").err
