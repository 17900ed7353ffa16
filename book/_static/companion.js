// Formulas, tables and code too wide for the page scroll in their own box. Mark those boxes, so that the style sheet
// can fade the edge behind which more follows, and let the keyboard reach them.
(() => {
  const BOXES = ".bd-article :is(div.math mjx-container, span.math, .pst-scrollable-table-container, .claim-graph, " +
    ".output.text_html, div.highlight pre, .cell_output pre)";

  const mark = (box) => {
    const formula = box.querySelector("mjx-math"); // the rest of its container is for screen readers
    const width = box.matches("span.math") && formula ? formula.getBoundingClientRect().width : box.scrollWidth;
    const hidden = width - box.clientWidth;
    box.classList.toggle("scrolls", hidden > 1);
    box.classList.toggle("more-before", hidden > 1 && box.scrollLeft > 1);
    box.classList.toggle("more-after", hidden > 1 && box.scrollLeft < hidden - 1);
    if (hidden > 1 && !box.querySelector("[tabindex='0']")) box.tabIndex = 0;
  };

  const markAll = () => document.querySelectorAll(BOXES).forEach(mark);

  window.addEventListener("load", async () => {
    if (window.MathJax?.startup?.promise) await window.MathJax.startup.promise;
    markAll();
    document.querySelectorAll(BOXES).forEach((box) => box.addEventListener("scroll", () => mark(box), { passive: true }));
    new ResizeObserver(markAll).observe(document.querySelector(".bd-article") ?? document.body);
  });
})();

// The ledger: one table of all claims, filtered by source, verdict and text, sorted by any column. The records below it
// are hidden with their rows.
window.addEventListener("DOMContentLoaded", () => {
  const table = document.querySelector(".claim-index table");
  if (!table) return;
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => {
    const [source, verdict] = [row.cells[1].textContent.trim(), row.cells[2].textContent.trim()];
    const anchor = row.querySelector("a").getAttribute("href").slice(1);
    const record = document.getElementById(anchor)?.closest("section");
    return { row, source, verdict, text: `${row.textContent} ${record?.textContent ?? ""}`.toLowerCase(), record };
  });

  const field = (name, control) => {
    const label = document.createElement("label");
    label.append(name, control);
    return label;
  };
  const choice = (every, values) => {
    const select = document.createElement("select");
    select.append(new Option(every, ""), ...values.map((value) => new Option(value)));
    return select;
  };
  const source = choice("every source", [...new Set(rows.map((r) => r.source))]);
  const verdict = choice("every verdict", [...new Set(rows.map((r) => r.verdict))].sort());
  const text = Object.assign(document.createElement("input"), { type: "search", placeholder: "word or id" });
  const count = document.createElement("output");
  const bar = document.createElement("div");
  bar.className = "claim-filter";
  bar.append(field("Source", source), field("Verdict", verdict), field("Find", text), count);
  table.closest(".claim-index").before(bar);

  const filter = () => {
    const word = text.value.trim().toLowerCase();
    let shown = 0;
    for (const r of rows) {
      const keep = (!source.value || r.source === source.value) && (!verdict.value || r.verdict === verdict.value) &&
        r.text.includes(word);
      r.row.hidden = !keep;
      if (r.record) r.record.hidden = !keep;
      shown += keep;
    }
    count.textContent = `${shown} of ${rows.length} claims`;
  };
  [source, verdict, text].forEach((control) => control.addEventListener("input", filter));
  window.addEventListener("hashchange", () => {
    const hit = rows.find((r) => r.record?.querySelector(`#${CSS.escape(location.hash.slice(1))}`) ||
      r.record?.id === location.hash.slice(1));
    if (hit?.record.hidden) {
      source.value = verdict.value = text.value = "";
      filter();
      hit.record.scrollIntoView();
    }
  });

  const key = (cell) => {
    const content = cell.textContent.trim();
    const number = parseFloat(content.replace(/^(error|margin) /, ""));
    return content === "" ? -Infinity : Number.isNaN(number) ? content.toLowerCase() : number;
  };
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      [...table.tHead.rows[0].cells].forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const compare = (a, b) => {
        const [x, y] = [key(a.cells[column]), key(b.cells[column])];
        const order = typeof x === typeof y ? (x < y ? -1 : x > y ? 1 : 0) : typeof x === "number" ? -1 : 1;
        return down ? -order : order;
      };
      body.append(...rows.map((r) => r.row).sort(compare));
    });
  });
  filter();
});
