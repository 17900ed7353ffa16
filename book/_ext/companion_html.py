"""Sphinx extension: MathJax from this site instead of a CDN, and small repairs to the theme's pages."""

import shutil
from importlib.metadata import files
from pathlib import Path

MATHJAX = ("tex-chtml.js", "output/chtml/fonts", "input/tex/extensions", "a11y", "sre", "ui")
BOXES = ("proof", "exercise", "solution")
UNWANTED = (' role="list"', ' role="doc-biblioentry"', *(f' id="{box}-content"' for box in BOXES))


def use_local_mathjax(app, config):
    config.mathjax_path = "mathjax/tex-chtml.js"


def copy_mathjax(app, exception):
    """Copy the parts of the distribution that a page can ask for."""
    if exception or app.builder.format != "html":
        return
    source = next(Path(f.locate()).parent for f in files("sphinx-mathjax-offline") if f.name == "tex-chtml.js")
    target = Path(app.outdir) / "_static" / "mathjax"
    target.mkdir(parents=True, exist_ok=True)
    for name in MATHJAX:
        if (source / name).is_dir():
            shutil.copytree(source / name, target / name, dirs_exist_ok=True)
        else:
            shutil.copy2(source / name, target / name)


def repair_page(app, pagename, templatename, context, doctree):
    """Drop scripts loaded twice or not wanted, ids given to every box, and roles that screen readers stumble over."""
    seen, kept = set(), []
    for script in context.get("script_files", []):
        name = str(getattr(script, "filename", script) or "")
        body = getattr(script, "attributes", {}).get("body", "")
        if "thebe" in name or "THEBE_JS_URL" in body or ((name or body) and (name, body) in seen):
            continue
        seen.add((name, body))
        kept.append(script)
    context["script_files"] = kept
    if "body" in context:
        for unwanted in UNWANTED:
            context["body"] = context["body"].replace(unwanted, "")


def setup(app):
    app.connect("config-inited", use_local_mathjax)
    app.connect("html-page-context", repair_page, priority=900)
    app.connect("build-finished", copy_mathjax)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
