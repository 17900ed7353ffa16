"""The teaching page knows the chapters, and student copies are judged by the asserts of the notebooks."""

import ast
import importlib.util
import json
import math
import re
import sys
import warnings
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.bounds.histogram import shuffled_rr_gamma_sharp

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("classroom", ROOT / "notebooks" / "classroom.py")
CLASSROOM = importlib.util.module_from_spec(SPEC)
sys.modules["classroom"] = CLASSROOM
SPEC.loader.exec_module(CLASSROOM)
NAMES = CLASSROOM.chapters()
NOTEBOOKS = {name: nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4) for name in NAMES}
PAGE = (ROOT / "book" / "teaching.md").read_text(encoding="utf8")
COPIES = {name: CLASSROOM.student_copy(notebook) for name, notebook in NOTEBOOKS.items()}
each_chapter = pytest.mark.parametrize("name", NAMES)


def headings(name: str) -> list[str]:
    texts = [cell.source for cell in NOTEBOOKS[name].cells if cell.cell_type == "markdown"]
    return re.findall(r"^#+ (.*)$", "\n".join(texts), re.M)


def section(name: str) -> str:
    title = re.escape(headings(name)[0])
    return re.search(rf"^### {title}\n(.*?)(?=^##|\Z)", PAGE, re.M | re.S)[1]


# the page ----------------------------------------------------------------------------------------------------------


def test_the_page_has_a_row_and_a_section_for_each_chapter_in_order():
    titles = [headings(name)[0] for name in NAMES]
    assert re.findall(r"^### (.*)$", PAGE, re.M) == titles
    rows = re.findall(r"^\| \[(.*)\]\(\.\./notebooks/(\w+)\.ipynb\) \| (\d+)", PAGE, re.M)
    assert [row[:2] for row in rows] == list(zip(titles, NAMES, strict=True))
    assert all(45 <= int(row[2]) <= 120 for row in rows)


@each_chapter
def test_a_section_has_steps_a_mistake_and_two_exam_questions(name):
    text = section(name)
    steps = re.findall(r"^(\d)\. \*\*(.*?)\.?\*\* \S", text, re.M)
    assert [number for number, _ in steps] == ["1", "2", "3"]
    assert {place for _, place in steps} <= set(headings(name)[1:]), "a step names a section of the chapter"
    assert text.count("**The mistake.**") == 1
    assert re.findall(r"^\*\*Exam (\d)\.\*\*", text, re.M) == ["1", "2"]
    assert len(re.findall(r"^:::\{admonition\} Solution\n:class: dropdown\n[^:]", text, re.M)) == 2


def phi(t):
    return math.exp(-t * t / 2) / math.sqrt(2 * math.pi)


def h(t):
    return phi(t) - t * math.erfc(t / math.sqrt(2)) / 2


def classical_beyond_its_range():
    sigma = math.sqrt(2 * math.log(1.25e6)) / 9
    return sdp.gaussian_curve(sigma, 1).delta(9) * 1e6


def refuted(quantity):
    """First n at which 12 epsilon0 sqrt(log(1/delta))/n falls below a number that no valid epsilon may undercut."""
    low, high = 100, 20_000
    while high - low > 1:
        n = (low + high) // 2
        low, high = (low, n) if 12 * 0.49 * math.sqrt(math.log(1e6)) / n < quantity(n) else (n, high)
    return high


def positive_part_of_signs():
    m, p = 100, 0.495
    return sum(math.comb(m, j) * p**j * (1 - p) ** (m - j) * max(2 * j - m, 0) for j in range(m + 1))


I_ONE = 4 * math.sinh(0.5) ** 2
RR_ONE = sdp.RandomizedResponse(2, 2 * math.asinh(0.5))  # the one with I = 1
SKEW = ((0.8, 0.2), (0.5, 0.5))


def at_two_mu(curve):
    return curve.delta(4 * math.sinh(0.5) / 100) * 1e5


def summed_error():
    with pytest.warns(sdp.GuaranteeWarning):
        protocol = sdp.SummationProtocol(1000, 1, 1e-6, k=4, gamma=0.1)
    return protocol.mse(np.full(1000, 0.3))


ANSWERS = [
    (
        "privacy_models",
        r"\frac5{32}",
        lambda: sdp.shuffled_rr(math.log(3), 2, direction="forward").delta(math.log(1.5)),
        5 / 32,
    ),
    ("privacy_models", r"\frac9{32}", lambda: sdp.shuffled_rr(math.log(3), 2).delta(math.log(1.5)), 9 / 32),
    ("privacy_models", r"\frac38", lambda: 3 / 4 - 1.5 * 1 / 4, 3 / 8),
    ("exact_curves", r"\frac5{16}", lambda: sdp.shuffled_rr(math.log(3), 3, ones=1).delta(0), 5 / 16),
    ("private_mean", "0.3829", lambda: sdp.gaussian_curve(1, 1).delta(0), None),
    ("private_mean", "8.782", lambda: sdp.classical_epsilon_max(1e-6), None),
    ("private_mean", "1.12", classical_beyond_its_range, None),
    ("private_mean", "1.131", lambda: 0.8 * math.sqrt(2), None),
    ("theorem7", "12289", lambda: refuted(lambda n: math.log(1 + sdp.shuffled_rr(0.49, n).delta(0) - 1e-6)), None),
    ("theorem7", "126", lambda: refuted(lambda n: sdp.shuffled_rr(0.49, n).epsilon(1e-6)), None),
    ("theorem7", "21.9", lambda: 12 * 0.49 * math.sqrt(math.log(1e6)), None),
    ("theorem7", "0.197", lambda: 2 * math.sinh(0.245) / math.sqrt(2 * math.pi), None),
    ("theorem7", "0.318", lambda: math.log((1 + 2 / 9) / (1 - 1 / 9)), None),
    ("theorem7_how_good", "55.3", lambda: 8 * math.log(1000), None),
    ("theorem7_how_good", "13.8", lambda: 2 * math.log(1000), None),
    ("theorem7_how_good", "1.523", lambda: 2 * math.tanh(1), None),
    ("theorem7_how_good", "12.78", lambda: 2 * math.expm1(2), None),
    ("theorem7_how_good", "8.389", lambda: math.expm1(2) / math.tanh(1), None),
    ("theorem7_sharper", "0.125", lambda: math.log1p(1 / (5 + 5 / 2)), None),
    ("shuffled_rr_theorem", "0.3250", lambda: sdp.shuffled_rr_gamma(4, 10_001, 0.5, 1e-6), None),
    ("shuffled_rr_theorem", "0.0216", lambda: 27 * 4 / (10_000 * 0.5), None),
    ("shuffled_rr_theorem", "2.231", lambda: math.log(1 + 4 * (1 - 0.324994) / 0.324994), None),
    ("shuffled_rr_theorem", "0.0926", lambda: shuffled_rr_gamma_sharp(4, 10_001, 0.5, 1e-6), None),
    ("blanket", r"\frac23", lambda: sdp.FiniteChannel([[1 / 2, 1 / 3, 1 / 6], [1 / 6, 1 / 3, 1 / 2]]).gamma, 2 / 3),
    ("blanket_bounds", "3.499", positive_part_of_signs, None),
    ("blanket_bounds", "0.995", lambda: math.exp(-2 * 100 * 1e-4 / 4), None),
    (
        "blanket_mechanisms",
        r"\frac{13}4",
        lambda: sdp.RandomizedResponse.from_gamma(2, 0.5).amplification_second_moment(math.log(2)),
        13 / 4,
    ),
    ("blanket_figures", r"\frac58", lambda: sum(math.comb(2, m) / 4 / m for m in (1, 2)), 5 / 8),
    ("summation", "30.99", summed_error, None),
    ("summation", "38.7", lambda: math.sqrt(min(8e5 / (4 * k * k) + 50 * k for k in range(1, 99))), None),
    ("summation_lower_bound", "0.3660", lambda: math.exp(-1) * (0.995 - 1e-6 * 0.995**-999), None),
    ("summation_lower_bound", "2.264", lambda: sdp.summation_lower_bound(1000, 1, 1e-6, K=5, lam=5), None),
    ("summation_lower_bound", "3.371", lambda: sdp.summation_lower_bound(1000, 1, 1e-6), None),
    ("likelihood_ratios", r"\frac{35}{32}", lambda: sdp.likelihood_ratio(SKEW, [[3, 1]], 0)[0], 35 / 32),
    ("likelihood_ratios", r"\frac{25}{28}", lambda: sdp.likelihood_ratio(SKEW, [[3, 1]], 1)[0], 25 / 28),
    ("likelihood_ratios", r"\frac{10}{13}", lambda: sdp.likelihood_ratio(SKEW, [[3, 1]], 3)[0], 10 / 13),
    ("fisher_constant", "0.4390", lambda: sdp.fisher_constant(SKEW, 0.5), None),
    ("fisher_constant", "0.3956", lambda: sdp.mixture_fisher_constant(SKEW, 0.5), None),
    ("jensen_shannon", "0.0012547", lambda: sdp.jsd_expansion(RR_ONE, 100, order=2), None),
    ("jensen_shannon", "0.0012547", lambda: sdp.jensen_shannon(RR_ONE, 100), None),
    ("jensen_shannon", "0.0012469", lambda: sdp.jsd_lower_bound(RR_ONE, 100, 0), None),
    ("gaussian_limit", "0.010422", lambda: 2 * math.sinh(0.5) / 100, None),
    ("gaussian_limit", "0.0041577", lambda: sdp.gdp(2 * math.sinh(0.5) / 100).delta(0), None),
    ("gaussian_limit", "8.94", lambda: at_two_mu(sdp.gdp(2 * math.sinh(0.5) / 100)), None),
    ("gaussian_limit", "9.34", lambda: at_two_mu(sdp.shuffled_rr(1, 10_000)), None),
    ("gaussian_limit", "3.91", lambda: I_ONE / 3 * 2 * phi(2) * 100, None),
    (
        "gaussian_limit",
        "4.01",
        lambda: 10 * (at_two_mu(sdp.shuffled_rr(1, 10_000)) - at_two_mu(sdp.gdp(2 * math.sinh(0.5) / 100))),
        None,
    ),
    ("gaussian_limit", "0.008491", lambda: h(2), None),
    ("gaussian_limit", "0.212", lambda: 0.05 / 3 * 2 * phi(2) / h(2), None),
    (
        "gaussian_limit",
        "0.231",
        lambda: sdp.shuffled_rr(2 * math.asinh(25), 10**6).delta(0.1) / sdp.gdp(0.05).delta(0.1) - 1,
        None,
    ),
    ("le_cam", "0.3621", lambda: I_ONE / 3, None),
    ("le_cam", "2.74", lambda: I_ONE / 3 * phi(1) / 3200 * 1e5, None),
    ("le_cam", "5.20", lambda: math.sqrt(I_ONE / 1600 / (8 * math.pi)) * 1e3, None),
    (
        "messages",
        r"\frac54",
        lambda: sdp.bundled_mu(sdp.RandomizedResponse(2, math.log(2)), 100, 0, 2) ** 2 * 100,
        5 / 4,
    ),
    (
        "messages",
        "constant is 1",
        lambda: sdp.bundled_mu(sdp.RandomizedResponse(2, math.log(2)), 100, 0.5, 2) ** 2 * 100,
        1,
    ),
    ("boundary", "18.42", lambda: math.log(1e8), None),
    ("boundary", "10.90", lambda: math.log(1e6 / math.log(1e8) - 1), None),
    ("boundary", "0.1036", lambda: sdp.poisson_limit(1.0, "forward").delta(math.log(2)), None),
    ("boundary", "e^{-1}$ for every", lambda: sdp.poisson_limit(1.0, "reverse").delta(3.0), math.exp(-1)),
    ("frequency", "0.3162", lambda: sdp.estimate_frequency(900, 2500, 2).estimate, None),
    ("frequency", "0.00851", lambda: sdp.estimate_frequency(900, 2500, 2).standard_error, None),
    ("which_bound", "1.225", lambda: math.sqrt(2 * 3 / 4), None),
    ("which_bound", "31.18", lambda: 2 * 3**2.5, None),
    ("which_bound", "1.386", lambda: math.log(4), None),
    ("which_bound", "1.581", lambda: math.sqrt(5 / 2), None),
    ("how_formulas_go_wrong", "0.383", lambda: math.erf(0.5 / math.sqrt(2)), None),
    ("how_formulas_go_wrong", "0.617", lambda: math.erfc(0.5 / math.sqrt(2)), None),
    ("frequency", "0.01251", lambda: math.sqrt(0.21 / 2500 + sdp.frequency_variance(2, 2500)), None),
]


@pytest.mark.parametrize("name, printed, compute, exact", ANSWERS, ids=lambda x: x if isinstance(x, str) else "")
def test_a_number_of_the_page_is_what_it_says(name, printed, compute, exact):
    assert printed in section(name)
    if exact is not None:
        assert compute() == pytest.approx(exact, rel=1e-9)
    else:
        digits = len(printed.partition(".")[2])
        assert f"{compute():.{digits}f}" == printed
        assert f"{compute() * 1.02:.{digits}f}" != printed or digits == 0  # a slip of two per cent would be seen


# student copies ----------------------------------------------------------------------------------------------------


def code(notebook):
    return [cell.source for cell in notebook.cells if cell.cell_type == "code" and cell.get("id") != "your-turn"]


def asserts(source: str) -> list[str]:
    return [ast.unparse(node) for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Assert)]


@each_chapter
def test_a_copy_keeps_its_checks_and_loses_its_answers(name):
    copy, taken = COPIES[name]
    nbformat.validate(copy)
    steps = [step for source in code(copy) for step in CLASSROOM.holes_in(source)]
    assert steps == list(taken["steps"]) and len(steps) >= 3
    assert len(taken["answers"]) >= 2
    assert not [cell for cell in copy.cells if cell.get("outputs")]
    assert "{solution}" not in nbformat.writes(copy)
    for before, after in zip(code(NOTEBOOKS[name]), code(copy), strict=True):
        assert asserts(before) == asserts(after)
        assert re.findall(r"derived\(\s*\"(.*?)\"", before) == re.findall(r"derived\(\s*\"(.*?)\"", after)


@each_chapter
def test_solutions_put_back_give_the_notebook(name):
    copy, taken = COPIES[name]
    solved = CLASSROOM.restore(copy, json.loads(json.dumps(taken)))
    del solved.cells[1]
    assert [cell.source for cell in solved.cells] == [cell.source for cell in NOTEBOOKS[name].cells]


def test_nearly_every_stamp_has_a_step():
    stamps = sum(source.count("derived(") for name in NAMES for source in code(NOTEBOOKS[name]))
    asked = 0
    for copy, _ in COPIES.values():
        for before, cell in zip(copy.cells, copy.cells[1:], strict=False):
            if cell.cell_type == "code" and cell.id != "your-turn" and "*Your answer to" not in before.source:
                asked += len(CLASSROOM.holes_in(cell.source))
    assert 0.9 * stamps <= asked <= stamps


def test_open_wrong_and_right_answers(monkeypatch):
    """One run of a chapter: each step first left open, then answered wrongly, then with the solution put back."""
    copy, taken = COPIES["theorem7"]
    solved = CLASSROOM.restore(copy, taken)
    namespace = {"__name__": "__main__"}
    monkeypatch.chdir(ROOT / "notebooks")
    matplotlib.use("agg")
    monkeypatch.setattr(plt, "show", lambda: plt.close("all"))

    def run(source):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(source, "cell", "exec"), namespace)

    for index, (left_open, right) in enumerate(zip(copy.cells, solved.cells, strict=True)):
        if right.cell_type != "code":
            continue
        steps = CLASSROOM.holes_in(left_open.source) if index != 1 else []
        if steps:
            with pytest.raises(Exception, match=rf"^step {steps[0]}: write an expression") as stopped:
                run(left_open.source)
            assert stopped.type.__name__ == "YourTurn"
        for step in steps:
            slip = taken["steps"] | {step: f"2 * ({taken['steps'][step]})"}
            stamp = next((cell.source for cell in solved.cells[index + 1 :] if "derived(" in cell.source), "")
            with pytest.raises((AssertionError, ValueError)):  # NotDerived is an AssertionError
                run(CLASSROOM.filled(left_open.source, slip))
                run(stamp)
        run(right.source)


# sheets ------------------------------------------------------------------------------------------------------------


@each_chapter
def test_a_sheet_has_the_exercises_and_no_solution(name):
    copy, taken = COPIES[name]
    page = CLASSROOM.sheet(copy)
    assert page.count('<div class="room tall">') == len(taken["answers"])
    assert page.count("<mark>") >= 2
    assert "What you will be able to do" in page
    assert ("{prf:theorem}" in nbformat.writes(copy)) <= ("<h2>Statements</h2>" in page)
    assert not re.search(r":::|\{(?:claim|cite|ref|prf|doc|py|eq)\b|your_turn|src=\"http", page)
    for text in taken["answers"].values():
        sentence = text.split("\n")[2].strip()[:60] or text.split("\n")[3].strip()[:60]
        assert CLASSROOM.rendered(sentence).strip().removeprefix("<p>").removesuffix("</p>") not in page


def test_the_command_writes_and_restores(tmp_path, capsys, monkeypatch):
    names = ["privacy_models", "blanket_figures"]
    monkeypatch.setattr(CLASSROOM, "chapters", lambda: names)
    folder = tmp_path / "classroom"
    CLASSROOM.write(folder)
    CLASSROOM.write(folder)  # a second time replaces the first
    for part, ending in (("notebooks", "ipynb"), ("solutions", "json"), ("sheets", "html")):
        assert sorted(path.stem for path in (folder / part).glob(f"*.{ending}")) == sorted(names)
    assert (folder / "sheets" / "mathjax" / "tex-svg.js").stat().st_size > 10**6
    assert all("<mark>" in path.read_text(encoding="utf8") for path in (folder / "sheets").glob("*.html"))
    assert capsys.readouterr().out.count(" steps, ") == 4

    copy, solutions = folder / "notebooks" / f"{names[1]}.ipynb", folder / "solutions" / f"{names[1]}.json"
    CLASSROOM.restore_file(copy, solutions)
    solved = nbformat.read(folder / "notebooks" / f"{names[1]}-solved.ipynb", as_version=4)
    assert code(solved) == code(NOTEBOOKS[names[1]])
