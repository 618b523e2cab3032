"""CSV files that are not UTF-8 give the same table as their UTF-8 twin, with a warning that names the encoding."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from hullrank.exceptions import TableWarning
from hullrank.io import read_table

TEXT = "größe;naïve;grade\n" + "".join(
    f"{i},5;été {i % 3} – “x”;{'très bon' if i % 2 else 'œuf €'}\n" for i in range(40)
)


@pytest.mark.parametrize(
    ("codec", "said"),
    [
        ("cp1252", "Windows-1252"),
        ("utf-16", "UTF-16"),
        ("utf-16-le", "UTF-16-LE"),
        ("utf-16-be", "UTF-16-BE"),
        ("utf-32", "UTF-32"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_same_table_from_every_encoding(tmp_path, codec, said, end):
    text = TEXT.replace("\n", end)
    (tmp_path / "utf8.csv").write_bytes(text.encode())
    (tmp_path / "other.csv").write_bytes(text.encode(codec))
    with pytest.warns(TableWarning, match=rf"other.csv is not UTF-8; it is read as {said}$"):
        other = read_table(tmp_path / "other.csv")
    assert_frame_equal(other, read_table(tmp_path / "utf8.csv"))
    assert other["größe"].dtype == pl.Float64


def test_a_single_foreign_letter_far_behind_is_found(tmp_path):
    rows = "".join(f"{i},plain\n" for i in range(20_000))
    (tmp_path / "t.csv").write_bytes(f"n,word\n{rows}1,café\n".encode("cp1252"))
    with pytest.warns(TableWarning, match="Windows-1252"):
        table = read_table(tmp_path / "t.csv")
    assert table["word"][-1] == "café"


def test_utf8_is_read_without_a_word(tmp_path, recwarn):
    (tmp_path / "t.csv").write_text(TEXT, encoding="utf-8")
    (tmp_path / "bom.csv").write_text(TEXT, encoding="utf-8-sig")
    # The first 65,536 bytes, by which the encoding is told, end within a letter of two bytes.
    (tmp_path / "cut.csv").write_bytes(b"a,b\n1," + b"x" * 65_529 + "é\n2,y\n".encode())
    for name in ("t.csv", "bom.csv", "cut.csv"):
        read_table(tmp_path / name)
    assert not recwarn
