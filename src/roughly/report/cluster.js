// A slider over the thresholds of the plot: it reads the table below the plot and moves a line
// between its dots. Without this script the table says the same.
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
    const [threshold, clusters, documents] = rows[input.value];
    const x = dots[input.value].getAttribute("cx");
    line.setAttribute("x1", x);
    line.setAttribute("x2", x);
    said.textContent = `${clusters} clusters of ${documents} documents at ${threshold}`;
    input.setAttribute("aria-valuetext", said.textContent);
  };
  input.addEventListener("input", () => {
    line.removeAttribute("visibility");
    show();
  });
  box.hidden = false;
  show();
})();
