"""The report in a real browser: it loads without a complaint, and hovering, filtering, dragging and keys work."""

import io
import json

import numpy as np
import polars as pl
import pytest
from matplotlib.image import imread

import chromium
from chromium import css, wait_for
from hullrank import ExactRanker, FixedMarginClassifier, SwappedPairsRanker
from hullrank.reports.html import write_report

pytest.importorskip("selenium", reason=chromium.NO_SELENIUM)
pytestmark = [chromium.needs_chromium, pytest.mark.slow]
HOSTILE = "<img src=x onerror=window.hacked=1></script><script>window.hacked=1</script>"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    driver = chromium.start(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    grades = ["low", HOSTILE, "high"]
    y = np.array(grades)[np.digitize(X @ [1.0, -1, 0] + rng.normal(size=120), [-1, 0.5])]
    return FixedMarginClassifier(classes=grades).fit(X, y), X, y


@pytest.fixture
def page(browser, model, tmp_path):
    write_report(tmp_path / "report.html", *model, names=[HOSTILE, "b", "c"], title=HOSTILE)
    browser.get(f"file://{tmp_path}/report.html")
    yield browser
    assert not browser.get_log("browser")
    assert browser.execute_script("return window.hacked") is None


def counts(browser):
    return np.array([[float(cell.text) for cell in css(row_, "td")] for row_ in css(browser, "#confusion tbody tr")])


def expected_counts(model, thresholds):
    estimator, X, y = model
    truth = np.array([estimator.classes_.tolist().index(label) for label in y])
    guess = np.searchsorted(thresholds, estimator.score_samples(X), side="left")
    table = np.zeros((3, 3))
    np.add.at(table, (truth, guess), 1)
    return table


def test_it_loads_with_all_its_parts(page, model):
    assert page.title == HOSTILE
    assert [h.text for h in css(page, "h2")] == [
        "Score line", "Confusion matrix", "Order and pair accuracy", "Most violated pairs", "Weights", "Certificate",
    ]  # fmt: skip
    assert len(css(page, ".point")) == 120
    np.testing.assert_array_equal(counts(page), expected_counts(model, model[0].thresholds_))


def test_a_scoring_system_shows_its_card_in_place_of_weights(browser, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(80, 3))
    y = (X @ [1, 2, -1] + rng.logistic(size=80) > 1).astype(int)
    ranker = ExactRanker(weights="integer", max_weight=2).fit(X, y)
    write_report(tmp_path / "report.html", ranker, X, y, names=["a", HOSTILE, "c"])
    browser.get(f"file://{tmp_path}/report.html")
    assert "Scoring card" in [h.text for h in css(browser, "h2")]
    assert not css(browser, "#weights")
    points, totals = css(browser, "#card table")
    assert HOSTILE in points.text
    assert len(css(totals, "tbody tr")) == len(ranker.score_table_.count)
    assert not browser.get_log("browser")
    assert browser.execute_script("return window.hacked") is None


def test_long_names_that_look_alike_are_numbered(browser, tmp_path):
    y = np.repeat([f"the class with the number {i} of all" for i in range(3)], 8)
    X = np.random.default_rng(0).normal(size=(24, 2)) + np.repeat(np.arange(3), 8)[:, None]
    write_report(tmp_path / "report.html", FixedMarginClassifier(classes=np.unique(y)).fit(X, y), X, y)
    browser.get(f"file://{tmp_path}/report.html")
    names = [cell.text.replace("\n", " ") for cell in css(browser, "#confusion tbody th")]
    assert [name.split(" ")[0] for name in names] == ["1.", "2.", "3."]


def test_what_a_dot_says_is_in_sight_in_a_low_window(page):
    from selenium.webdriver.common.action_chains import ActionChains

    size = page.get_window_size()
    try:
        page.set_window_size(1000, 600)
        page.refresh()
        dot = css(page, ".point")[0]
        page.execute_script("arguments[0].scrollIntoView({block: 'end'})", dot)
        ActionChains(page).move_to_element(dot).perform()
        assert css(page, "#detail")[0].text.startswith("Row 1: ")
        end = page.execute_script("return document.getElementById('detail').getBoundingClientRect().bottom")
        assert 0 < end <= page.execute_script("return innerHeight") + 1
    finally:
        page.set_window_size(size["width"], size["height"])


def test_hovering_names_the_row(page, model):
    from selenium.webdriver.common.action_chains import ActionChains

    estimator, X, y = model
    target = int(np.argmax(estimator.score_samples(X)))
    ActionChains(page).move_to_element(css(page, ".point")[target]).perform()
    told = css(page, "#detail")[0].text
    assert f"Row {target + 1}: grade “{y[target]}”" in told
    assert f"b {X[target, 1]:.6g}, c {X[target, 2]:.6g}" in told


def test_filtering_hides_a_grade_and_its_counts(page, model):
    css(page, ".chips input")[0].click()
    visible = [dot for dot in css(page, ".point") if dot.is_displayed()]
    assert len(visible) == np.sum(model[2] != "low")
    assert counts(page)[0].sum() == 0


def test_dragging_a_threshold_changes_the_confusion_matrix(page, model):
    from selenium.webdriver.common.action_chains import ActionChains

    knob = css(page, ".threshold circle")[0]
    before = counts(page)
    ActionChains(page).click_and_hold(knob).move_by_offset(-120, 0).release().perform()
    value = float(css(page, ".threshold")[0].get_attribute("aria-valuenow"))
    assert value < model[0].thresholds_[0]
    after = counts(page)
    assert (after != before).any()
    thresholds = np.array([value, model[0].thresholds_[1]])
    assert np.abs(after - expected_counts(model, thresholds)).sum() <= 2  # aria-valuenow has four digits
    css(page, "#reset")[0].click()
    np.testing.assert_array_equal(counts(page), before)


def test_dragged_thresholds_are_saved(page, model, tmp_path):
    page.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    css(page, ".threshold")[0].send_keys("\ue012" * 5)
    value = float(css(page, ".threshold")[0].get_attribute("aria-valuenow"))
    css(page, "#save")[0].click()
    saved = tmp_path / "thresholds.json"
    wait_for(saved.exists)
    held = json.loads(saved.read_text(encoding="utf-8"))
    assert held["grades"] == ["low", HOSTILE, "high"]
    assert held["thresholds"][0] == pytest.approx(value, rel=1e-3)
    assert held["thresholds"][0] < model[0].thresholds_[0]
    assert held["thresholds"][1] == model[0].thresholds_[1]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_picture_is_saved_by_the_keyboard_on_a_white_ground(page, tmp_path, scheme):
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    page.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    try:
        css(page, "#save-picture")[0].send_keys("\ue007")  # Enter
        saved = tmp_path / "score-line.png"
        wait_for(saved.exists)
        picture = imread(saved)
    finally:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    box = css(page, "#line .plot")[0].get_dom_attribute("viewBox").split()
    assert picture.shape[1] == 1600
    assert picture.shape[0] > 1600 * float(box[3]) / float(box[2])  # with the legend below
    np.testing.assert_array_equal(picture[[0, 0, -1, -1], [0, -1, 0, -1]], 1)
    colours = {tuple(pixel) for pixel in np.round(255 * picture[::2, ::2, :3]).astype(int).reshape(-1, 3).tolist()}
    assert len(colours) > 20  # dots, bars and words, on the ground


def test_the_marks_have_a_legend(page):
    told = " ".join(item.text for item in css(page, ".legend li"))
    assert "interval of a grade" in told
    assert "threshold between two grades" in told
    assert "placed as another grade" in told


def test_negative_weights_point_to_the_left(page, model):
    bars = css(page, "#weights .weight")
    middle = {round(bar.rect["x"]) for bar in bars if "up" in bar.get_attribute("class")}
    ends = {round(bar.rect["x"] + bar.rect["width"]) for bar in bars if "down" in bar.get_attribute("class")}
    assert np.sum(model[0].coef_ < 0) > 0
    assert np.ptp([*middle, *ends]) <= 1


def test_real_targets_and_kernels(browser, model, tmp_path):
    from selenium.webdriver.common.action_chains import ActionChains

    _, X, _ = model
    target = X @ [1.0, -1, 0] + 5
    ranker = SwappedPairsRanker(kernel="rbf").fit(X, target)
    write_report(tmp_path / "r.html", ranker, X, target, names=["a", "b", HOSTILE])
    browser.get(f"file://{tmp_path}/r.html")
    assert len(css(browser, "#trend .point")) == 120
    heights = np.array([float(dot.get_attribute("cy")) for dot in css(browser, "#trend .point")])
    assert np.array_equal(np.argsort(heights), np.argsort(-ranker.score_samples(X)))
    best = int(np.argmin(heights))
    ActionChains(browser).move_to_element(css(browser, "#trend .point")[best]).perform()
    assert f"Row {best + 1}: target" in css(browser, "#trend-detail")[0].text
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    css(browser, "#save-picture")[0].click()
    wait_for((tmp_path / "predicted-rank.png").exists)
    assert [h.text for h in css(browser, "h2")][-2:] == ["Influence", "Certificate"]
    assert not browser.get_log("browser")
    assert browser.execute_script("return window.hacked") is None


def test_it_prints_in_ink_on_white_without_controls(page):
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert not any(button.is_displayed() for button in css(page, "button, .chips"))
        assert _luminance(page.execute_script("return getComputedStyle(document.body).backgroundColor")) == 1
    finally:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_thresholds_do_not_cross(page):
    from selenium.webdriver.common.action_chains import ActionChains

    knob, other = css(page, ".threshold circle")
    beyond = int(other.rect["x"] - knob.rect["x"]) + 40
    ActionChains(page).click_and_hold(knob).move_by_offset(beyond, 0).release().perform()
    low, high = (float(t.get_attribute("aria-valuenow")) for t in css(page, ".threshold"))
    assert low == high


def test_the_keyboard_is_enough(page):
    handle = css(page, ".threshold")[1]
    before = float(handle.get_attribute("aria-valuenow"))
    page.execute_script("arguments[0].focus()", handle)
    page.switch_to.active_element.send_keys("")
    handle.send_keys("\ue014" * 3)
    assert float(handle.get_attribute("aria-valuenow")) > before
    plot = css(page, ".plot")[0]
    plot.send_keys("\ue010")
    top = css(page, "#detail")[0].text
    plot.send_keys("\ue012")
    assert top.startswith("Row ")
    assert css(page, "#detail")[0].text != top


def test_turning_the_phone_draws_anew_and_keeps_what_was_set(page):
    css(page, ".chips input")[0].click()
    css(page, ".threshold")[0].send_keys("\ue012" * 5)
    before, box = counts(page), css(page, ".plot")[0].get_dom_attribute("viewBox")
    page.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    )
    try:
        page.execute_async_script("requestAnimationFrame(() => setTimeout(arguments[0], 50))")
        assert css(page, ".plot")[0].get_dom_attribute("viewBox") != box
        np.testing.assert_array_equal(counts(page), before)
        assert len(css(page, "#line")) == 1
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_needs_no_sideways_scrolling_and_text_has_contrast(page, scheme):
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    phone = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    try:
        assert page.execute_script("return document.documentElement.scrollWidth") <= 390
        style = "const s = getComputedStyle(document.body); return [s.color, s.backgroundColor]"
        ink, ground = (_luminance(colour) for colour in page.execute_script(style))
        assert (max(ink, ground) + 0.05) / (min(ink, ground) + 0.05) > 7
        assert (ground < 0.2) == (scheme == "dark")
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def on_a_phone(browser):
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 375, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    )


def test_on_a_phone_the_order_stands_upright_and_long_names_leave_room_for_the_bars(browser, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    grades = ["poor", "fair", "good", "excellent"]
    y = np.array(grades)[np.digitize(X @ [2.0, 1, -1] + rng.normal(size=90), [-2, 0, 2])]
    names = ["a_name_of_one_long_word_with_many_underscores_in_it", "some words that go on for long", "c"]
    table = pl.DataFrame({"id": [f"row-{i}" for i in range(90)]})
    write_report(tmp_path / "r.html", FixedMarginClassifier(classes=grades).fit(X, y), X, y, names=names, table=table)
    on_a_phone(browser)
    try:
        browser.get(f"file://{tmp_path}/r.html")
        assert "row-" in css(browser, "#pairs tbody td")[0].text
        for part in css(browser, "#order .scroll, #weights .scroll"):
            assert part.get_property("scrollWidth") <= part.get_property("clientWidth")
        assert all(0 < bar.rect["x"] + bar.rect["width"] < 375 for bar in css(browser, "#weights .weight"))
        boxes = css(browser, "#order svg rect")
        assert np.all(np.diff([box.rect["y"] for box in boxes]) < 0)  # the highest grade on top
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_box_that_scrolls_has_a_shade_where_it_goes_on(page):
    on_a_phone(page)
    try:
        box = css(page, "#pairs .scroll")[0]
        page.execute_script("arguments[0].scrollIntoView()", box)
        assert box.get_property("scrollWidth") > box.get_property("clientWidth")
        left, right = _edges(box)
        assert right > left + 20
        page.execute_script("arguments[0].scrollLeft = 1000", box)
        left, right = _edges(box)
        assert left > right + 20
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def _edges(box):
    """How far from their ground the first and the last pixel of a box are, in a row above its text."""
    pixels = 255 * imread(io.BytesIO(box.screenshot_as_png))[3, :, :3].mean(axis=1)
    ground = np.median(pixels)
    return abs(pixels[1] - ground), abs(pixels[-2] - ground)


def _luminance(colour):
    channels = np.array([int(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]
