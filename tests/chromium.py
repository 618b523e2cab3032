"""Headless Chromium for the tests that need a browser; they skip, with the reason, where there is none."""

import shutil
import time

import pytest

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
needs_chromium = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="no Chromium here (Debian: apt-get install chromium chromium-driver)"
)
NO_SELENIUM = "selenium is not installed (pip install hullrank[browser])"


def start(profile):
    """A browser with a profile folder of its own, which logs everything that a page complains about."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (
        "headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking",
        "disable-component-update", "disable-sync", "window-size=1100,900", f"user-data-dir={profile}",
    ):  # fmt: skip
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))


def css(browser, selector):
    """All elements that a selector finds."""
    return browser.find_elements("css selector", selector)


def wait_for(condition, seconds=60.0):
    """Wait until a condition holds, and give what it gave; what it looks at may be drawn anew meanwhile."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if result := condition():
                return result
        except Exception as error:
            if type(error).__name__ != "StaleElementReferenceException":  # selenium may not be there
                raise
        time.sleep(0.05)
    raise AssertionError(f"did not come true within {seconds} s")
