"""The page of a demo's App Store in Chromium: `assay demo` as people start it."""

import re
import subprocess
import tempfile
import unittest

from looking import THEMES, WIDTHS, launch, look
from simulator import ASSAY


class DemoTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.process = subprocess.Popen(
            [ASSAY, "demo", "--data", folder.name, "--listen", "127.0.0.1:0", "--simulator", "127.0.0.1:0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        cls.addClassCleanup(cls.end)
        greeting = ""
        while "Ctrl-C" not in greeting:
            line = cls.process.stdout.readline()
            assert line, greeting
            greeting += line
        first = re.search(r"http:\S+/dashboard/first-account\S+", greeting).group()
        cls.home = re.match(r"http://[^/]+", first).group()
        cls.browser = launch(cls)
        context = cls.browser.new_context(java_script_enabled=False)
        page = context.new_page()
        page.goto(first)
        page.fill("#name", "ann")
        page.fill("#password", "a password of many words")
        page.click("main button")
        cls.state = context.storage_state()
        context.close()

    @classmethod
    def end(cls) -> None:
        cls.process.terminate()
        cls.process.wait(timeout=30)
        cls.process.stdout.close()

    def test_somebody_buys_and_time_passes_without_javascript(self) -> None:
        context = self.browser.new_context(java_script_enabled=False, storage_state=self.state)
        page = context.new_page()
        page.goto(self.home + "/dashboard")
        page.click("nav >> text=Simulator")
        name = "anna<script>alert(1)</script>"
        for act in ("buy", "renew", "refund"):
            page.fill("#customer", name)
            page.select_option("#act", act)
            page.select_option("#product", "com.example.demo.pro.monthly" if act == "buy" else "")
            page.click("text=Do it")
            self.assertEqual(page.locator("[role=status]").inner_text(), "It was done.", act)
            page.goto(self.home + "/dashboard/simulator")
        page.click("text=Switch it on")
        self.assertIn("fails as Apple does", page.locator("main").inner_text())
        page.goto(self.home + "/dashboard/simulator")
        page.click("text=Switch it off")
        page.goto(self.home + "/dashboard/simulator")
        page.click(f"text={name}")
        self.assertEqual(page.locator("tbody tr").count(), 2)
        # The store told the server of it, which knows the transaction.
        page.click("tbody tr a >> nth=0")
        self.assertIn("Apple took it back", page.locator("main").inner_text())
        context.close()

    def test_the_page_in_both_themes_and_widths(self) -> None:
        for theme in THEMES:
            for width in WIDTHS:
                context = self.browser.new_context(
                    color_scheme=theme,
                    viewport={"width": width, "height": 800},
                    storage_state=self.state,
                )
                for path in ("/dashboard/simulator", "/dashboard/apps", "/dashboard/catalogue"):
                    with self.subTest(theme=theme, width=width, path=path):
                        look(self, context.new_page(), self.home + path, self.home, width)
                context.close()


if __name__ == "__main__":
    unittest.main()
