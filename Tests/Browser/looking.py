"""Looks at a page as people see it, and at whatever must not happen on it."""

import os
import unittest

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

THEMES, WIDTHS = ("light", "dark"), (360, 1440)
# Far above what a page has; a page that grows with what somebody sent would pass it.
BYTES_MAX = 100_000


def launch(case: type[unittest.TestCase]) -> Browser:
    """Chromium, until the tests of the class are over."""
    playwright = sync_playwright().start()
    case.addClassCleanup(playwright.stop)
    # A sandbox inside of Chromium needs rights that a container's root does not have.
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []
    browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=flags)
    case.addClassCleanup(browser.close)
    return browser


def watch(page: Page, home: str, found: list[str]) -> None:
    """Notes whatever must not happen on a page."""
    page.on("console", lambda message: found.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: found.append(f"error: {error}"))
    page.on("dialog", lambda dialog: (found.append(f"a script ran: {dialog.message}"), dialog.dismiss()))
    page.on("request", lambda request: request.url.startswith(home) or found.append(f"elsewhere: {request.url}"))


def look(case: unittest.TestCase, page: Page, url: str, home: str, width: int) -> None:
    found: list[str] = []
    watch(page, home, found)
    answer = page.goto(url)
    # A page that is not there is a page, too; Chromium notes it as an error of the console.
    if answer.status == 404:
        found = [line for line in found if "404" not in line]
    case.assertIn(answer.status, (200, 404))
    case.assertLess(len(answer.body()), BYTES_MAX)
    case.assertEqual(found, [])
    case.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width)
    results = Axe().run(page)
    case.assertEqual(results.violations_count, 0, results.generate_report())
    page.close()
