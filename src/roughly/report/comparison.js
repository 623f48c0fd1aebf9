
"use strict";
// Reading needs none of this: numbers are plain links. It adds: both ends of a passage light up
// together, a click on a passage follows its number, n and p go to the next and previous passage.
(() => {
  const other = (id) => (id[0] === "a" ? "b" : "a") + id.slice(1);
  const ends = (id) => [document.getElementById(id), document.getElementById(other(id))].filter(Boolean);
  let lit = [];
  const light = (id) => {
    for (const end of lit) end.classList.remove("on");
    lit = id ? ends(id) : [];
    for (const end of lit) end.classList.add("on");
  };
  const passage = (target) => (target instanceof Element ? target.closest(".p") : null);
  const current = () => (/^#[ab]\d+$/.test(location.hash) ? location.hash.slice(1) : "");
  document.addEventListener("mouseover", (event) => light(passage(event.target)?.id || current()));
  document.addEventListener("focusin", (event) => light(passage(event.target)?.id || current()));
  addEventListener("hashchange", () => light(current()));
  document.addEventListener("click", (event) => {
    const found = passage(event.target);
    if (!found || event.target.closest("a") || !getSelection().isCollapsed) return;
    location.hash = other(found.id);
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !"np".includes(event.key)) return;
    const all = [...document.querySelectorAll(".side:first-child .p")].map((end) => end.id);
    if (!all.length) return;
    const at = all.indexOf("a" + current().slice(1));
    const step = event.key === "n" ? at + 1 : (at < 0 ? 0 : at) - 1;
    const id = all[(step + all.length) % all.length];
    location.hash = other(id);
    document.getElementById(id).scrollIntoView({ block: "nearest" });
    document.getElementById(id).querySelector("a")?.focus({ preventScroll: true });
    light(id);
  });
  for (const keys of document.querySelectorAll(".keys")) keys.hidden = false;
  light(current());
})();
