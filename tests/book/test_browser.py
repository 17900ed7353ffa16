"""Opens every page of the built book in headless Chromium; run by ``make browser``, not by ``make test``."""

import functools
import http.server
import itertools
import math
import os
import shutil
import threading
from pathlib import Path

import pytest

import shuffledp as sdp

playwright = pytest.importorskip("playwright.sync_api")
axe_playwright = pytest.importorskip("axe_playwright_python.sync_playwright")

SITE = Path(__file__).resolve().parents[2] / "_build" / "html"
PAGES = sorted(str(p.relative_to(SITE)) for d in ("book", "notebooks") for p in (SITE / d).rglob("*.html"))
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# Flaws of the stock theme, on every page: the search button and the theme switch are named otherwise than they read,
# and the header lies outside the landmarks.
THEME_FLAWS = {"label-content-name-mismatch", "region"}
# Thousands of small pieces would take most of axe-core's time: formulas give way to a word, code loses its colours but
# for one piece of each, and contrast is looked at once for every combination of colours and type.
THIN = """() => {
    for (const formula of document.querySelectorAll("mjx-container")) formula.replaceWith("formula");
    const seen = new Set();
    for (const piece of document.querySelectorAll("div.highlight span[class]")) {
        if (seen.has(piece.className)) piece.replaceWith(piece.textContent);
        seen.add(piece.className);
    }
}"""
SAMPLE = """() => {
    const seen = new Set();
    for (const element of document.querySelectorAll("[data-sample]")) delete element.dataset.sample;
    for (const element of document.body.querySelectorAll("*")) {
        const text = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
        if (!text || !element.getClientRects().length) continue;
        const style = getComputedStyle(element);
        const look = [style.color, style.fontSize, style.fontWeight];
        for (let up = element; up; up = up.parentElement) {
            const { backgroundColor, backgroundImage, opacity } = getComputedStyle(up);
            look.push(backgroundColor, backgroundImage, opacity);
            if (!/^rgba.*[ ,]0\\)$/.test(backgroundColor)) break;
        }
        if (!seen.has(String(look))) element.dataset.sample = "";
        seen.add(String(look));
    }
}"""

STATE = """() => {
    const shown = (box) => box.getClientRects().length > 0;
    const article = document.querySelector(".bd-article");
    const edge = article.getBoundingClientRect().right + 1;
    const clipped = [...article.querySelectorAll("mjx-container, table, pre, img")].filter((box) => {
        if (!shown(box)) return false;
        let reach = box.getBoundingClientRect().right;
        if (box.matches("mjx-container, pre")) {
            const style = getComputedStyle(box);
            const parent = getComputedStyle(box.parentElement);
            const scrolls = [style.overflowX, parent.overflowX].some((o) => o === "auto" || o === "scroll");
            if (!scrolls && box.scrollWidth > box.clientWidth + 1) return true;
        }
        for (let up = box.parentElement; up && up !== article; up = up.parentElement) {
            const overflow = getComputedStyle(up).overflowX;
            if (overflow === "auto" || overflow === "scroll") return false;
        }
        return reach > edge;
    });
    return {
        formulas: document.querySelectorAll(".math").length,
        typeset: document.querySelectorAll(".math mjx-container").length,
        errors: [...document.querySelectorAll("mjx-merror")].map((e) => e.textContent),
        overflow: document.documentElement.scrollWidth - innerWidth,
        clipped: clipped.map((box) => box.outerHTML.slice(0, 120)),
        unreachable: [...article.querySelectorAll(".scrolls")]
            .filter((box) => box.tabIndex < 0 && !box.querySelector("[tabindex='0']"))
            .map((box) => box.outerHTML.slice(0, 120)),
    };
}"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def base():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(SITE)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as tool:
        chromium = tool.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def tab(browser, base, request):
    """A fresh tab as wide as asked for; collects what goes wrong and refuses requests that leave the site."""
    width = getattr(request, "param", 1280)
    context = browser.new_context(viewport={"width": width, "height": 900}, reduced_motion="reduce")
    context.set_default_timeout(120_000)  # milliseconds; a busy machine is no fault of the page
    page = context.new_page()
    page.problems = []

    def guard(route):
        if route.request.url.startswith((base, "file:", "data:", "blob:")):
            route.continue_()
        else:
            page.problems.append("remote request " + route.request.url)
            route.abort()

    context.route("**/*", guard)
    page.on("console", lambda message: message.type == "error" and page.problems.append(message.text))
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on("response", lambda answer: answer.status >= 400 and page.problems.append(f"{answer.status} {answer.url}"))
    yield page
    context.close()


def open_page(tab, address):
    tab.goto(address, wait_until="load")
    tab.evaluate("async () => { if (window.MathJax) await MathJax.startup.promise }")
    tab.evaluate(TWO_FRAMES)


TWO_FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def flaws(tab):
    """What axe-core finds on the thinned page, by rule, without contrast and the known flaws of the theme."""
    tab.evaluate(THIN)
    return axe(tab, None, {"rules": {"color-contrast": {"enabled": False}}})


def faint(tab):
    """What axe-core finds on the contrast of text, on a sample with every combination of colours and type."""
    tab.evaluate(SAMPLE)
    return axe(tab, {"include": [["[data-sample]"]]}, {"runOnly": ["color-contrast"]})


def axe(tab, context, options):
    options = {"preload": False, "resultTypes": ["violations"], **options}
    found = {}
    for flaw in axe_playwright.Axe().run(tab, context, options).response["violations"]:
        if flaw["id"] not in THEME_FLAWS:
            found[flaw["id"]] = [node["html"][:200] for node in flaw["nodes"]]
    return found


def assert_all_is_shown(tab):
    state = tab.evaluate(STATE)
    assert state["typeset"] >= state["formulas"] and state["errors"] == []
    assert state["overflow"] <= 0 and state["clipped"] == [] and state["unreachable"] == []


def test_there_are_pages():
    assert PAGES, "build the book first: make book"


def assert_dropdowns_open_by_keyboard(tab):
    boxes = tab.locator(".admonition.dropdown")
    for index in range(boxes.count()):
        box = boxes.nth(index)
        body = box.locator("> :not(.admonition-title, .toggle-button)").first
        assert not body.is_visible()
        box.locator("button.toggle-button").first.focus()
        tab.keyboard.press("Enter")
        body.wait_for(state="visible")


def resize(tab, width):
    tab.set_viewport_size({"width": width, "height": 900})
    tab.evaluate(TWO_FRAMES)


@pytest.mark.parametrize("name", PAGES)
def test_page_from_disk(tab, name):
    """Loaded once, which takes most of the time: wide, then as narrow as a phone, then in both colours."""
    open_page(tab, (SITE / name).as_uri())
    assert_all_is_shown(tab)
    resize(tab, 390)
    assert_all_is_shown(tab)
    assert_dropdowns_open_by_keyboard(tab)
    assert_all_is_shown(tab)
    resize(tab, 1280)
    assert flaws(tab) == {}
    assert faint(tab) == {}
    tab.emulate_media(color_scheme="dark")
    tab.wait_for_function("document.documentElement.dataset.theme === 'dark'")
    assert faint(tab) == {}
    assert tab.problems == []


@pytest.mark.parametrize("name", ["book/welcome", "book/calculator", "book/graph", "notebooks/theorem7"])
@pytest.mark.parametrize("tab", [390], indirect=True, ids=["phone"])
def test_page_from_a_server_on_a_phone(tab, base, name):
    """Pages of each make, loaded narrow."""
    open_page(tab, base + name + ".html")
    assert_all_is_shown(tab)
    assert_dropdowns_open_by_keyboard(tab)
    assert flaws(tab) == {}
    assert tab.problems == []


def test_a_fault_is_found(tab, base):
    """The checks of `test_page` can fail: one page, spoilt in each way they look for."""
    open_page(tab, base + min(PAGES, key=lambda name: (SITE / name).stat().st_size))
    tab.evaluate("""() => {
        const article = document.querySelector(".bd-article");
        article.insertAdjacentHTML("beforeend", `<div style="width:3000px">wide</div><span class="math">x</span>
            <mjx-merror>bad</mjx-merror><table style="width:2000px"></table><p style="color:#ccc">faint</p>
            <div class="highlight"><pre><span class="faint" style="color:#ccc">code</span></pre></div><img src="https://example.org/x.png">`);
    }""")
    tab.wait_for_timeout(200)
    state = tab.evaluate(STATE)
    assert state["typeset"] < state["formulas"] and state["errors"] == ["bad"]
    assert state["overflow"] > 0 and len(state["clipped"]) >= 1
    assert "image-alt" in flaws(tab)
    assert {node[:2] for node in faint(tab)["color-contrast"]} >= {"<p", "<s"}  # prose and code
    assert any(problem.startswith("remote request") for problem in tab.problems)


def test_search_finds_the_first_page(tab, base):
    tab.goto(base + "search.html?q=shuffle", wait_until="load")
    tab.wait_for_selector("#search-results li a")
    assert tab.locator("#search-results li a").count() > 0
    assert tab.problems == []


def test_search_works_from_disk(tab):
    tab.goto((SITE / "search.html").as_uri() + "?q=shuffle", wait_until="load")
    tab.wait_for_selector("#search-results li a")


def test_the_ledger_is_filtered_and_sorted(tab, base):
    open_page(tab, base + "book/ledger.html")
    rows, records = tab.locator(".claim-index tbody tr:visible"), tab.locator("h3:visible")
    every = rows.count()
    assert records.count() == every > 40
    tab.get_by_label("Verdict").select_option("false as printed")
    chosen = rows.count()
    assert 0 < chosen < every and records.count() == chosen
    assert set(tab.locator(".claim-index tbody tr:visible td:nth-child(3)").all_inner_texts()) == {"false as printed"}
    tab.get_by_label("Find").fill("efmrtt19.thm7.amplifies")
    assert rows.count() == 1 and f"1 of {every}" in tab.locator(".claim-filter output").inner_text()
    tab.evaluate("location.hash = '#efmrtt19-thm7-general'")  # a link to a hidden claim shows it
    tab.locator("#efmrtt19-thm7-general + h3").wait_for(state="visible")
    for column, descending in ((4, False), (4, True)):
        tab.locator(".claim-index th button").nth(column - 1).click()
        points = [int(text) for text in tab.locator(f".claim-index tbody td:nth-child({column})").all_inner_texts()]
        assert points == sorted(points, reverse=descending)
    assert tab.problems == []


def test_dark_switch(tab, base):
    open_page(tab, base + PAGES[0])
    seen = set()
    for _ in range(3):
        tab.locator(".theme-switch-button:visible").first.click()
        seen.add(tab.evaluate("document.documentElement.dataset.theme"))
    assert seen == {"light", "dark"}


def test_a_wide_formula_says_so_and_scrolls_by_keyboard(tab, base):
    """On a phone a formula that does not fit fades at the edge, and the arrow keys move it."""
    tab.set_viewport_size({"width": 390, "height": 900})
    for name in PAGES:
        open_page(tab, base + name)
        wide = tab.locator("div.math mjx-container.scrolls.more-after")
        if wide.count():
            break
    else:
        pytest.skip("no formula of the book is wider than a phone")
    wide.first.focus()
    for _ in range(5):
        tab.keyboard.press("ArrowRight")
    tab.wait_for_function("() => document.querySelector('mjx-container.scrolls.more-before') !== null")


def test_the_calculator_agrees_with_the_library(tab):
    """From disk: closed forms to 1e-12, tables to the error they state, bad input a message; the setting is a link."""
    address = (SITE / "book" / "calculator.html").as_uri()
    open_page(tab, address)
    settings = list(itertools.product((0.05, 1.0, 4.5), (40, 10**4, 10**8), (1e-3, 1e-9), (2, 7)))
    found = tab.evaluate(
        """(all) => all.map(([epsilon0, n, delta, k]) => ({
            rows: calculator.compute({ epsilon0, n, delta, k }), forms: calculator.theorem7(epsilon0, n, delta) }))""",
        settings,
    )
    stated = tab.evaluate("() => ({ clones: calculatorTables.clones.error, krr: calculatorTables.krr.error })")
    tabulated = 0
    for (epsilon0, n, delta, k), answer in zip(settings, found, strict=True):
        at, rows, forms = (epsilon0, n, delta, k), answer["rows"], answer["forms"]
        rr, generic = sdp.RandomizedResponse(k, epsilon0), sdp.GenericRandomizer(epsilon0)
        theorem = sdp.theorem7(epsilon0, n, delta)
        closed = {
            "hoeffding": sdp.blanket_hoeffding(rr, n).epsilon(delta),
            "bennett": sdp.blanket_bennett(rr, n).epsilon(delta),
            "hoeffdingFree": sdp.blanket_hoeffding(generic, n).epsilon(delta),
            "bennettFree": sdp.blanket_bennett(generic, n).epsilon(delta),
        }
        try:
            closed["clonesClosed"] = sdp.clones_closed_form(epsilon0, n, delta)
        except sdp.DomainError:
            assert "outside its range" in rows["clonesClosed"]["note"]
        for name, value in closed.items():
            assert rows[name]["epsilon"] == pytest.approx(value, rel=1e-12), (name, *at)
        mu = 2 * math.sinh(epsilon0 / 2) / n**0.5
        if k > 2:
            mu = math.expm1(epsilon0) * math.sqrt(2 / (math.expm1(epsilon0) + k) / n)
        assert rows["limit"]["epsilon"] == pytest.approx(sdp.gdp(mu).epsilon(delta), rel=1e-12), at
        for name in ("general", "refined", "simple", "sharpened"):
            assert forms[name] == pytest.approx(getattr(theorem, f"epsilon_{name}"), rel=1e-12), (name, *at)
        assert forms["lastSwap"] == pytest.approx(theorem.epsilon_last_swap, rel=1e-12), at
        for name, valid in (("refined", theorem.refined_valid), ("simple", theorem.simple_valid)):
            assert ("epsilon" in rows[name]) == valid, (name, *at)
        if k == 2:
            assert rows["exact"]["epsilon"] == pytest.approx(sdp.shuffled_rr(epsilon0, n).epsilon(delta), rel=1e-9), at
        elif "epsilon" in rows["exact"]:
            exact = sdp.shuffled_krr(k, epsilon0, n).epsilon(delta)
            assert rows["exact"]["epsilon"] == pytest.approx(exact, rel=stated["krr"]), at
            tabulated += 1
        if "epsilon" in rows["clones"]:
            exact = sdp.clones(epsilon0, n).epsilon(delta)
            assert 1 <= rows["clones"]["epsilon"] / exact <= 1 + 2 * stated["clones"], at
            tabulated += 1
    assert tabulated > 10

    output = tab.locator(".calculator output")
    for bad in ("", "x", "nan", "-1", "1e400", "1.5"):
        tab.locator("#calculator-n").fill(bad)
        assert "must be" in tab.locator("#calculator-n-message").inner_text()
        assert "Nothing is computed" in output.inner_text() and "NaN" not in tab.locator(".calculator").inner_text()
    tab.locator("#calculator-n").fill("2e5")
    assert output.inner_text().startswith("Exact value:") and "n=2e5" in tab.evaluate("location.hash")
    tab.locator("input[name='epsilon0-slider']").focus()
    tab.keyboard.press("ArrowRight")  # the keyboard moves the slider, the slider the field
    assert tab.locator("#calculator-epsilon0").input_value() == "1.01"
    tab.goto("about:blank")
    open_page(tab, address + "#epsilon0=0.5&n=1000&delta=1e-5&k=3")
    assert [tab.locator(f"#calculator-{name}").input_value() for name in ("epsilon0", "n", "delta", "k")] == [
        "0.5",
        "1000",
        "1e-5",
        "3",
    ]
    assert "NaN" not in tab.locator(".calculator").inner_text()
    assert tab.problems == []
