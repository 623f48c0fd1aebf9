// A slider over the thresholds of the plot: it reads the table below the plot and what the dots of
// the two lines say, documents first, and moves a line between them. Without this script the table
// says the same.
"use strict";
(() => {
  const box = document.querySelector(".slider");
  if (!box) return;
  const figure = box.closest("figure");
  const rows = [...figure.querySelectorAll("tbody tr")].map((row) =>
    [...row.cells].map((cell) => cell.textContent));
  const dots = figure.querySelectorAll(".line circle");
  const line = figure.querySelector(".cursor");
  const input = box.querySelector("input");
  const said = box.querySelector("output");
  const show = () => {
    const at = Number(input.value);
    const [documents, clusters] = [at, at + rows.length].map((n) => dots[n].textContent);
    const x = dots[at].getAttribute("cx");
    line.setAttribute("x1", x);
    line.setAttribute("x2", x);
    said.textContent = `${clusters} of ${documents} at ${rows[at][0]}`;
    input.setAttribute("aria-valuetext", said.textContent);
  };
  input.addEventListener("input", () => {
    line.removeAttribute("visibility");
    show();
  });
  box.hidden = false;
  show();
})();
