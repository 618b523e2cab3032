"""The page in a real browser and the installed command behind it: from a table that is dropped to files on disk."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import chromium
from chromium import css, wait_for

pytest.importorskip("uvicorn", reason="pip install 'hullrank[app]'")
pytest.importorskip("selenium", reason=chromium.NO_SELENIUM)
pytestmark = [chromium.needs_chromium, pytest.mark.slow]

COMMAND = Path(sys.executable).parent / "hullrank"
TABLES = Path(__file__).parents[2] / "src/hullrank/datasets/tables"
HOSTILE = "<img src=x onerror=window.hacked=1>"
UP, DOWN = "\ue013", "\ue015"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The address that the command prints; at the end it is stopped by Ctrl-C and must leave nothing."""
    temporary = tmp_path_factory.mktemp("temporary")
    with subprocess.Popen(
        [COMMAND, "app", "--no-browser"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "TMPDIR": str(temporary)},
    ) as process:  # fmt: skip
        yield re.search(r"http://127\.0\.0\.1:\d+/\S+/", process.stdout.readline())[0]
        assert [path.name[:13] for path in temporary.iterdir()] == ["hullrank-app-"]
        process.send_signal(signal.SIGINT)
        _, complaints = process.communicate(timeout=30)
        assert process.returncode == 0
        assert complaints == ""
        assert list(temporary.iterdir()) == []


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    driver = chromium.start(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


@pytest.fixture
def page(browser, address, tmp_path):
    browser.get(address)
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    wait_for(lambda: css(browser, "#method option"))
    yield browser
    assert not browser.get_log("browser")
    assert browser.execute_script("return window.hacked") is None


def choose(page, table, selector="#file"):
    css(page, selector)[0].send_keys(str(table))


def names(page):
    return [name.text for name in css(page, ".grades .name")]


def in_order(page, wanted):
    """Put the grades into an order, from the highest, by the keyboard, and say that it is right where that is asked."""
    wait_for(lambda: sorted(names(page)) == sorted(wanted))
    for place, name in enumerate(wanted):
        while (at := names(page).index(name)) > place:
            css(page, ".grades li")[at].send_keys(UP)
    assert names(page) == wanted
    if css(page, "#grades-checked")[0].is_displayed():
        click(page, "#grades-checked")


def give_part(page, column, role):
    page.execute_script(
        "const s = document.querySelectorAll('#columns-table select')[arguments[0]];"
        "s.value = arguments[1]; s.dispatchEvent(new Event('change'))",
        column,
        role,
    )


def click(page, selector):
    page.execute_script("arguments[0].click()", css(page, selector)[0])


def downloaded(page, name, folder):
    click(page, f"a[href='files/{name}']")
    wait_for((folder / name).exists)
    wait_for(lambda: not list(folder.glob("*.crdownload")))
    return folder / name


def widths_on_a_phone(page):
    """How wide the page is on a phone that is 390 wide, in light and in dark colours."""
    phone = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    try:
        for scheme in ("light", "dark"):
            media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
            page.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
            yield page.execute_script("return document.documentElement.scrollWidth")
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_from_a_dropped_table_to_files_on_disk_and_a_phone(page, tmp_path):
    choose(page, TABLES / "wine.csv")
    wait_for(lambda: len(css(page, "#columns-table tbody tr")) == 9)
    assert "wine.csv: 300 rows, 9 columns" in css(page, "#table-said")[0].text
    assert [cell.text for cell in css(css(page, "#columns-table tbody tr")[5], "td")][2:] == [
        "numbers", "10.2, 7.3, 8.5", "12",
    ]  # fmt: skip
    in_order(page, ["excellent", "good", "fair", "poor"])
    click(page, "#fit")
    wait_for(lambda: css(page, ".stop"))
    wait_for(lambda: css(page, "#line .point"))
    assert len(css(page, "#line .point")) == 300
    assert css(page, "#confusion")
    assert 0.9 < float(css(page, ".figure strong")[0].text) < 1
    assert "Proven: the objective lies within" in css(page, "#fit-result")[0].text
    wait_for(lambda: css(page, "#ranked table"))
    best = [cell.text for cell in css(css(page, "#ranked tbody tr")[0], "td")]
    ranked = pl.read_csv(downloaded(page, "ranked.csv", tmp_path))
    assert best[0] == "1"
    assert best[2] == ranked["grade_"][0] == "excellent"
    downloaded(page, "report.html", tmp_path)
    model = downloaded(page, "model.hull", tmp_path)
    done = subprocess.run(
        [COMMAND, "rank", model, TABLES / "new-wine.csv", "--json"], capture_output=True, text=True, check=True
    )
    choose(page, TABLES / "new-wine.csv", "#new-file")
    wait_for(lambda: css(page, "#new-ranked table"))
    shown = [css(row, "td")[3].text for row in css(page, "#new-ranked tbody tr")]
    assert shown == [str(row["row"]) for row in json.loads(done.stdout)["ranked"][:20]]
    page.refresh()
    wait_for(lambda: names(page) == ["excellent", "good", "fair", "poor"])
    wait_for(lambda: css(page, "#new-ranked table"))
    wait_for(lambda: css(page, "#line .point"))
    assert not any(css(page, f"#{name}")[0].get_property("disabled") for name in ("fit", "compare", "new-file"))
    assert max(widths_on_a_phone(page)) <= 390
    handle = css(page, ".threshold")[0]
    before = css(page, "#summary")[0].text
    handle.send_keys("\ue012" * 20)
    assert css(page, "#summary")[0].text != before


def test_grades_are_dragged(page):
    from selenium.webdriver.common.action_chains import ActionChains

    choose(page, TABLES / "wine.csv")
    wait_for(lambda: names(page) == ["poor", "good", "fair", "excellent"])
    poor, excellent = css(page, ".grades li")[0], css(page, ".grades li")[3]
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", poor)
    by = int(excellent.rect["y"] - poor.rect["y"]) + 8
    ActionChains(page).click_and_hold(css(poor, ".name")[0]).move_by_offset(0, by // 2).move_by_offset(
        0, by - by // 2
    ).release().perform()
    assert names(page) == ["good", "fair", "excellent", "poor"]
    assert css(page, "#grades-said")[0].text == "“poor” is now number 4 of 4 from the top."
    click(page, ".grades li:nth-child(3) .higher")
    assert names(page) == ["good", "excellent", "fair", "poor"]
    css(page, ".grades li")[0].send_keys(DOWN)
    assert names(page) == ["excellent", "good", "fair", "poor"]
    give_part(page, 1, "left out")
    assert names(page) == ["excellent", "good", "fair", "poor"]
    click(page, ".grades li:nth-child(3) .tie")
    assert page.execute_script("return JSON.stringify(page.levels())") == '[["poor"],["good","fair"],["excellent"]]'


def can_learn(page):
    """Whether Fit and Compare can be pressed; if not, the page says why beside each."""
    fit, compare = (css(page, f"#{name}")[0].is_enabled() for name in ("fit", "compare"))
    waits = ["I have checked the order" in said.text for said in css(page, ".waits")]
    assert fit == compare
    assert waits == [not fit, not fit]
    return fit


def test_the_sample_comes_in_its_order_and_other_words_are_asked_for_theirs(page):
    click(page, "#sample")
    wait_for(lambda: names(page) == ["excellent", "good", "fair", "poor"])
    assert can_learn(page)
    give_part(page, 1, "target")  # the region, of which nobody knows an order
    assert names(page) == ["valley", "hills", "coast"]
    assert "order of the alphabet" in css(page, "#grades-note")[0].text
    assert not can_learn(page)
    box = css(page, "#grades-checked")[0]
    box.send_keys(" ")
    assert can_learn(page)
    box.send_keys(" ")
    assert not can_learn(page)
    css(page, ".grades li")[0].send_keys(DOWN)
    assert can_learn(page)
    assert not box.is_displayed()
    give_part(page, 2, "target")  # the year, a number
    assert can_learn(page)
    give_part(page, 8, "target")
    assert names(page) == ["excellent", "good", "fair", "poor"]
    assert can_learn(page)
    page.refresh()
    wait_for(lambda: names(page) == ["excellent", "good", "fair", "poor"])
    assert can_learn(page)


def test_hostile_names_stay_words_and_what_is_said_of_a_table_is_said_once(page, tmp_path):
    rows = "\n".join(f"{i % 3},{i % 7};{'=2+5' if i % 2 else HOSTILE};g{i % 3}" for i in range(60))
    (tmp_path / "german.csv").write_text(f"{HOSTILE};b;{HOSTILE}2\n{rows}\n")
    choose(page, tmp_path / "german.csv")
    wait_for(lambda: "german.csv: 60 rows, 3 columns" in css(page, "#table-said")[0].text)
    assert css(page, "#columns-table td")[0].text == HOSTILE
    give_part(page, 2, "target")
    in_order(page, ["g2", "g1", "g0"])
    click(page, "#fit")
    wait_for(lambda: css(page, "#ranked table"))
    assert not css(page, "main img")
    assert HOSTILE in css(page, "#weights")[0].text
    told = [line.text for line in css(page, "#fit-live .notes li")]
    assert told.count("german.csv is read as separated by semicolons, with a decimal comma") == 1
    assert len(set(told)) == len(told)


def test_compare_stop_errors_and_reload(page, tmp_path):
    click(page, "#sample")
    in_order(page, ["excellent", "good", "fair", "poor"])
    click(page, "#compare")
    wait_for(lambda: css(page, "#compare-result table"))
    compared = [row.text.split()[0] for row in css(page, "#compare-result tbody tr")]
    assert sorted(compared) == ["fixed-margin", "hull", "swapped-pairs"]
    assert len(css(page, ".whisker")) == 3
    page.execute_script("document.querySelector('#folds').value = 20")  # so that it is not over before it is stopped
    click(page, "#compare")
    wait_for(lambda: css(page, ".stop"))
    click(page, ".stop")
    wait_for(lambda: css(page, "#compare-live")[0].text == "Stopped.")
    page.refresh()
    wait_for(lambda: len(css(page, "#columns-table tbody tr")) == 9)
    (tmp_path / "bad.csv").write_text("a,a\n1,2\n")
    choose(page, tmp_path / "bad.csv")
    wait_for(lambda: "two columns named 'a'" in css(page, "#table-said")[0].text)
    assert len(css(page, "#columns-table tbody tr")) == 9
    logged = [entry["message"] for entry in page.get_log("browser")]
    assert len(logged) == 1  # the browser itself tells of every answer with an error
    assert "400 (Bad Request)" in logged[0]


def test_two_windows_do_not_see_each_other(page, address):
    first = page.current_window_handle
    click(page, "#sample")
    wait_for(lambda: css(page, "#columns-table tbody tr"))
    page.switch_to.new_window("window")
    try:
        page.get(address)
        wait_for(lambda: css(page, "#method option"))
        assert not css(page, "#columns-table tbody tr")
        assert page.execute_async_script("fetch('state').then((a) => a.json()).then(arguments[0])")["table"] is None
    finally:
        page.close()
        page.switch_to.window(first)
