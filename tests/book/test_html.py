"""Reads the built book without a browser: links, anchors, assets, raw markup, alternative texts."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml

import shuffledp
import shuffledp.claims

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "_build" / "html"
PAGES = sorted(p for p in SITE.rglob("*.html") if "_static" not in p.parts)
VOID = {"br", "img", "hr", "meta", "link", "input", "source", "wbr", "area", "base", "col"}
RAW = re.compile(r"\$\$|\\begin\{|`{3}|:{3}|:label:|\{(?:eq|ref|doc|cite|cite:[tp]|prf:ref|numref|py:\w+)\}|:[a-z:]+:`")


class Page(HTMLParser):
    """The anchors, links, assets and running text of one page."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.assets, self.unnamed, self.text = set(), [], [], [], []
        self.skip = 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        skipped = tag in ("script", "style", "pre", "code") or "math" in (a.get("class") or "").split()
        if (self.skip or skipped) and tag not in VOID:
            self.skip += 1
        self.ids.update(a[k] for k in ("id", "name") if a.get(k))
        if tag == "a" and a.get("href"):
            self.links.append(a["href"])
        if tag in ("script", "img", "iframe") and a.get("src"):
            self.assets.append(a["src"])
        if tag == "link" and a.get("rel") in ("stylesheet", "preload", "icon") and a.get("href"):
            self.assets.append(a["href"])
        if tag == "img" and (not a.get("alt") or a["alt"].endswith((".png", ".svg"))):
            self.unnamed.append(a.get("src"))

    def handle_endtag(self, tag):
        if self.skip and tag not in VOID:
            self.skip -= 1

    def handle_data(self, data):
        if not self.skip:
            self.text.append(data)


PARSED = {path: Page(path.read_text(encoding="utf8")) for path in PAGES}


def faults(path, page):
    """Everything wrong with one page, as a list of sentences."""
    found = [f"remote asset {href}" for href in page.assets if urlsplit(href).scheme or urlsplit(href).netloc]
    for href in page.links + page.assets:
        url = urlsplit(href)
        if url.scheme or url.netloc:
            continue
        target = (path.parent / unquote(url.path)).resolve() if url.path else path
        if not target.exists():
            found.append(f"missing {href}")
        elif url.fragment and target in PARSED and unquote(url.fragment) not in PARSED[target].ids:
            found.append(f"no anchor {href}")
    found += [f"raw markup {m!r}" for m in RAW.findall("".join(page.text))]
    return found + [f"no alternative text {source}" for source in page.unnamed]


@pytest.mark.parametrize("path", PAGES, ids=lambda p: str(p.relative_to(SITE)))
def test_page_has_no_faults(path):
    assert faults(path, PARSED[path]) == []


@pytest.mark.parametrize("module", [shuffledp, shuffledp.claims], ids=lambda m: m.__name__)
def test_every_public_name_is_in_the_reference(module):
    known = PARSED[SITE / "book" / "api.html"].ids
    assert [name for name in module.__all__ if f"{module.__name__}.{name}" not in known] == []


def test_every_source_became_a_page():
    sources = [*ROOT.glob("book/*.md"), *ROOT.glob("notebooks/*.ipynb")]
    pages = {path.relative_to(SITE).with_suffix("") for path in PAGES}
    assert sources and {s.relative_to(ROOT).with_suffix("") for s in sources} <= pages, "run make book"


def test_the_root_page_is_the_first():
    root = yaml.safe_load((ROOT / "_toc.yml").read_text())["root"]
    assert f"{root}.html" in (SITE / "index.html").read_text()


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ('<script src="https://example.org/x.js"></script>', "remote asset"),
        ('<link rel="stylesheet" href="//example.org/x.css">', "remote asset"),
        ('<a href="nowhere.html">x</a>', "missing"),
        ('<a href="#nowhere">x</a>', "no anchor"),
        ("<p>$$ x $$</p>", "raw markup"),
        ("<p>see {eq}`eq-x`</p>", "raw markup"),
        ("<p>:::{admonition} x</p>", "raw markup"),
        ('<img src="x.png" alt="../_images/x.png">', "no alternative text"),
    ],
)
def test_a_fault_is_found(body, fault):
    path = PAGES[0] if PAGES else SITE / "index.html"
    PARSED.setdefault(path, Page(""))
    assert any(sentence.startswith(fault) for sentence in faults(path, Page(body)))


def test_a_function_names_its_claims_and_their_chapter():
    page = (SITE / "book" / "api.html").read_text(encoding="utf8")
    entry = page.partition('id="shuffledp.shuffled_rr"')[2].partition('class="api-claims')[2].partition("</div>")[0]
    assert 'href="ledger.html#shvets26-exact-canonical"' in entry and 'href="../notebooks/privacy_models.html"' in entry
