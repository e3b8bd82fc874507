"""Every page of the dashboard in Chromium: as people see it, and as an attacker would like to have it."""

import base64
import os
import re
import tempfile
import unittest
from pathlib import Path
from urllib.parse import quote

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, sync_playwright

from server import Assay
from simulator import BUNDLE_ID, Simulator

NAME, PASSWORD = "ann<script>alert(1)</script>", "a password of many words"
# Printable ASCII without spaces is what the API takes for an id; the rest goes wherever text is free.
HOSTILE_ID = "\"'><svg/onload=alert(1)><script>alert(2)</script>"
HOSTILE_TEXT = "\"\u0301'\u0308><\u0301script>alert(3)</script><img\u0301 src=x onerror=alert(4)>"
THEMES, WIDTHS = ("light", "dark"), (360, 1440)
# Far above what a page has; a page that grows with what somebody sent would pass it.
BYTES_MAX = 100_000


class DashboardTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        store = Simulator("--start", "2026-01-01T00:00:00Z")
        cls.addClassCleanup(store.close)
        cls.assay = Assay(Path(folder.name), store)
        cls.addClassCleanup(cls.assay.close)
        cls.root = cls.assay.url + "/dashboard"
        cls.transaction = cls.fill(store)
        cls.kims, cls.mias = (cls.fill_waiting(store, customer) for customer in ("kim", "mia"))
        log = Path(folder.name, "log").read_text()
        cls.first = cls.assay.url + re.search(r'"path":"([^"]+)"', log).group(1).replace("\\/", "/")
        playwright = sync_playwright().start()
        cls.addClassCleanup(playwright.stop)
        # A sandbox inside of Chromium needs rights that a container's root does not have.
        flags = ["--no-sandbox"] if os.geteuid() == 0 else []
        cls.browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=flags)
        cls.addClassCleanup(cls.browser.close)
        cls.state = cls.make_account()
        cls.pages = [
            "", "/triage", "/triage?span=month", "/revenue", "/revenue?currency=USD", "/subscriptions",
            "/subscriptions?state=expired", "/notifications", "/operations", "/accounts", "/audit", "/account", "/search?q=nothing",
            "/search?q=" + quote(HOSTILE_TEXT), f"/transaction?app=demo&id={cls.transaction}",
            f"/transaction?app=demo&id=1", "/customer?app=demo&id=anna",
            f"/customer?app=demo&id={quote(HOSTILE_ID)}", f"/order?app=demo&id={quote(HOSTILE_ID)}",
            "/orders", "/orders?days=365&state=paid", *cls.action_pages(),
        ]  # fmt: skip

    @classmethod
    def fill(cls, store: Simulator) -> str:
        """A purchase for an order of hostile names, and refusals of hostile proofs."""
        call = cls.assay.call
        store.customer("anna")
        order = {"order_id": HOSTILE_ID, "customer_id": HOSTILE_ID, "product_id": BUNDLE_ID + ".coins.100"}
        status, answer = call("POST", "/v1/orders", order)
        assert status == 201, answer
        for proof in (HOSTILE_TEXT, base64.b64encode(HOSTILE_TEXT.encode()).decode(), "e30.e30.e30", HOSTILE_ID):
            status, answer = call("POST", "/v1/purchases", {"proof": proof, "customer_id": HOSTILE_ID})
            assert status in (202, 422), (status, answer)
        bought = store.buy("anna", BUNDLE_ID + ".coins.100")
        proof = store.get(f"/transactions/{bought['transaction_id']}")["signed_transaction_info"]
        purchase = {"proof": proof, "customer_id": HOSTILE_ID, "order_id": HOSTILE_ID}
        status, answer = call("POST", "/v1/purchases", purchase)
        assert status in (200, 201), (status, answer)
        return bought["transaction_id"]

    @classmethod
    def fill_waiting(cls, store: Simulator, customer: str) -> str:
        """A purchase that pays nothing by itself, because its order was cancelled before; another order that waits."""
        call = cls.assay.call
        product = BUNDLE_ID + ".coins.100"
        for name, quantity in (("cancelled", 1), ("open", 7)):
            order = {"order_id": f"{customer}-{name}", "customer_id": customer, "product_id": product, "quantity": quantity}
            status, answer = call("POST", "/v1/orders", order)
            assert status == 201, answer
        status, answer = call("POST", f"/v1/orders/{customer}-cancelled/cancel", {})
        assert status == 200, answer
        store.customer(customer)
        bought = store.buy(customer, product)
        proof = store.get(f"/transactions/{bought['transaction_id']}")["signed_transaction_info"]
        status, answer = call("POST", "/v1/purchases", {"proof": proof, "customer_id": customer})
        assert status in (200, 201), (status, answer)
        return bought["transaction_id"]

    @classmethod
    def action_pages(cls) -> list[str]:
        """What an operator is asked, and shown, before anything is done."""
        status, answer = cls.assay.call("GET", f"/v1/transactions/{cls.transaction}")
        assert status == 200, answer
        side = answer["transactions"][0]["environment"] + ".test"
        place = f"?app=demo&side={side}&id={cls.transaction}"
        adjust = f"/adjust?app=demo&side={side}&customer={quote(HOSTILE_ID)}"
        return [
            f"/attach?app=demo&side={side}&id={cls.mias}",
            f"/attach?app=demo&side={side}&id={cls.mias}&order=mia-cancelled",
            "/transfer" + place, f"/transfer{place}&to={quote(HOSTILE_ID)}2", "/acknowledge" + place,
            adjust, adjust + "&currency=gems&amount=-5", "/order/cancel?app=demo&id=mia-open",
        ]  # fmt: skip

    @classmethod
    def make_account(cls) -> dict:
        context = cls.browser.new_context(java_script_enabled=False)
        page = context.new_page()
        page.goto(cls.first)
        page.fill("#name", NAME)
        page.fill("#password", PASSWORD)
        page.click("main button")
        assert page.url == cls.root, page.url
        state = context.storage_state()
        context.close()
        return state

    def watch(self, page: Page, found: list[str]) -> None:
        """Notes whatever must not happen on a page."""
        page.on("console", lambda message: found.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: found.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (found.append(f"a script ran: {dialog.message}"), dialog.dismiss()))
        page.on(
            "request",
            lambda request: request.url.startswith(self.assay.url) or found.append(f"elsewhere: {request.url}"),
        )

    def test_every_page_in_both_themes_and_widths(self) -> None:
        for theme in THEMES:
            for width in WIDTHS:
                context = self.browser.new_context(
                    color_scheme=theme,
                    viewport={"width": width, "height": 800},
                    storage_state=self.state,
                )
                for path in self.pages:
                    with self.subTest(theme=theme, width=width, path=path):
                        self.look(context.new_page(), path, width)
                context.close()

    def look(self, page: Page, path: str, width: int) -> None:
        found: list[str] = []
        self.watch(page, found)
        answer = page.goto(self.root + path)
        # A page that is not there is a page, too; Chromium notes it as an error of the console.
        if answer.status == 404:
            found = [line for line in found if "404" not in line]
        self.assertIn(answer.status, (200, 404))
        self.assertLess(len(answer.body()), BYTES_MAX)
        self.assertEqual(found, [])
        self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width)
        results = Axe().run(page)
        self.assertEqual(results.violations_count, 0, results.generate_report())
        page.close()

    def test_every_page_without_javascript(self) -> None:
        context = self.browser.new_context(java_script_enabled=False, storage_state=self.state)
        page = context.new_page()
        for path in self.pages:
            with self.subTest(path=path):
                page.goto(self.root + path)
                self.assertTrue(page.locator("main h1").is_visible())
        page.goto(self.root)
        page.fill("#q", self.transaction)
        page.keyboard.press("Enter")
        page.wait_for_url("**/transaction?**")
        self.assertIn("Granted", page.locator("main").inner_text())
        context.close()

    def test_the_keyboard_reaches_the_content_first(self) -> None:
        context = self.browser.new_context(storage_state=self.state)
        page = context.new_page()
        page.goto(self.root)
        page.keyboard.press("Tab")
        self.assertEqual(page.evaluate("document.activeElement.textContent"), "Skip to the content")
        page.keyboard.press("Enter")
        self.assertEqual(page.evaluate("document.activeElement.id"), "main")
        context.close()

    def tab_to(self, page: Page, what: str) -> None:
        """Goes on by the tabulator to a link or button with this text, or to the field of this id."""
        for _ in range(120):
            page.keyboard.press("Tab")
            at = page.evaluate("[document.activeElement.textContent.trim(), document.activeElement.id]")
            if what in at:
                return
        self.fail(f"the keyboard does not reach {what} on {page.url}")

    def test_an_operator_acts_by_keyboard(self) -> None:
        found: list[str] = []
        context = self.browser.new_context(storage_state=self.state)
        page = context.new_page()
        self.watch(page, found)

        def follow(what: str) -> None:
            self.tab_to(page, what)
            with page.expect_navigation():
                page.keyboard.press("Enter")

        def fill(field: str, text: str) -> None:
            self.tab_to(page, field)
            page.keyboard.type(text)
            with page.expect_navigation():
                page.keyboard.press("Enter")

        page.goto(self.root + "/orders")
        follow(self.kims)
        follow("Have it pay an order")
        follow("kim-cancelled")
        self.assertIn("cannot be undone", page.locator("main").inner_text())
        fill("reason", "she paid for it")
        page.wait_for_url("**/transaction?**")
        self.assertIn("Granted", page.locator("main").inner_text())

        follow("Transfer it to another customer")
        fill("to", "lee")
        self.assertIn("What would move", page.locator("main").inner_text())
        fill("reason", "her new account")
        page.wait_for_url("**/transaction?**")
        self.assertIn("Transfer it back to kim", page.locator("main").inner_text())

        page.goto(self.root + "/customer?app=demo&id=kim")
        follow("Change gems")
        fill("amount", "-30")
        self.assertIn("from 100 to 70", page.locator("main").inner_text())
        fill("reason", "counted twice")
        page.wait_for_url("**/customer?**")
        self.assertIn("70", page.locator("table", has_text="Balances").inner_text())

        page.goto(self.root + "/audit")
        rows = page.locator("main").inner_text()
        for word in ("purchase_attached", "purchase_transferred", "balance_adjusted", "counted twice"):
            self.assertIn(word, rows)
        self.assertEqual(found, [])
        context.close()

    def test_an_injected_script_would_not_run(self) -> None:
        """The second wall: were an escape missing, the policy would stop what is in the page."""
        context = self.browser.new_context(storage_state=self.state)
        page = context.new_page()
        page.goto(self.root)
        page.evaluate("""() => {
            const script = document.createElement('script');
            script.textContent = 'document.title = "it ran"';
            document.body.append(script);
            document.body.insertAdjacentHTML('beforeend', '<img src="x:" onerror="document.title = `it ran`">');
        }""")
        self.assertNotEqual(page.title(), "it ran")
        context.close()

    def test_a_form_of_another_site_changes_nothing(self) -> None:
        context = self.browser.new_context(storage_state=self.state)
        page = context.new_page()
        page.goto("data:text/html," + quote(f"<form method=post action='{self.root}/sign-out'><button>x</button></form>"))
        page.click("button")
        page.goto(self.root)
        self.assertEqual(page.url, self.root)
        context.close()

    def test_no_other_page_frames_ours(self) -> None:
        context = self.browser.new_context(storage_state=self.state)
        page = context.new_page()
        page.route("**/frame", lambda route: route.fulfill(body=f"<iframe src='{self.root}'></iframe>", content_type="text/html"))
        page.goto(self.assay.url + "/frame")
        page.wait_for_timeout(300)
        self.assertEqual([frame.name for frame in page.frames if frame.url.startswith(self.root)], [])
        context.close()

    def test_the_session_is_out_of_reach_and_ends(self) -> None:
        context = self.browser.new_context()
        page = context.new_page()
        page.goto(self.root + "/triage?span=month")
        self.assertIn("/sign-in", page.url)
        results = Axe().run(page)
        self.assertEqual(results.violations_count, 0, results.generate_report())
        page.fill("#name", NAME)
        page.fill("#password", "not the password")
        page.click("main button")
        self.assertIn("wrong", page.locator("[role=alert]").inner_text())
        page.goto(self.root + "/triage?span=month")
        page.fill("#name", NAME)
        page.fill("#password", PASSWORD)
        page.click("main button")
        self.assertTrue(page.url.endswith("/triage?span=month"), page.url)
        self.assertEqual(page.evaluate("document.cookie"), "")
        page.click("footer button")
        self.assertIn("/sign-in", page.url)
        page.goto(self.root)
        self.assertIn("/sign-in", page.url)
        context.close()


if __name__ == "__main__":
    unittest.main()
