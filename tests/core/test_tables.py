from shuffledp.core.tables import html_table, text_table

ROWS = [("epsilon", 1.23456789, "natural log"), ("valid", True, ""), ("threshold", None, "a < b"), ("n", 8, "")]


def test_text_table_is_aligned_and_has_no_trailing_blanks():
    assert text_table("Result", ROWS).split("\n") == [
        "Result",
        "  epsilon    1.234568  natural log",
        "  valid      yes",
        "  threshold  -         a < b",
        "  n          8",
    ]


def test_html_table_escapes_and_carries_the_class():
    html = html_table("A & B", ROWS)
    assert html.startswith('<table class="sdp"><caption>A &amp; B</caption>')
    assert '<tr><th scope="row">threshold</th><td>-</td><td>a &lt; b</td></tr>' in html


def test_text_without_a_note_takes_the_columns_of_both():
    assert '<td colspan="2">a &gt; b</td></tr>' in html_table("T", [("warning", "a > b", "")])
    assert "colspan" not in html_table("T", ROWS)


def test_no_rows():
    assert text_table("Empty", []) == "Empty"
