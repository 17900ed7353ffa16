// Formulas, tables and code too wide for the page scroll in their own box. Mark those boxes, so that the style sheet
// can fade the edge behind which more follows, and let the keyboard reach them.
(() => {
  const BOXES = ".bd-article :is(div.math mjx-container, span.math, .pst-scrollable-table-container, " +
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
