// Reading needs none of this: numbers are plain links. It adds: both ends of a passage light up
// together, and n and p go to the next and the previous passage in both texts.
const other = (id) => (id[0] === "a" ? "b" : "a") + id.slice(1);
const ends = (id) => [document.getElementById(id), document.getElementById(other(id))].filter(Boolean);
let lit = [];
let current = "";

function light(id) {
  for (const end of lit) end.classList.remove("on");
  lit = id ? ends(id) : [];
  for (const end of lit) end.classList.add("on");
}

function go(id) {
  current = id;
  light(id);
  for (const end of ends(id)) {
    const box = end.closest(".text");
    const place = end.getBoundingClientRect().top - box.getBoundingClientRect().top;
    box.scrollTop += place - box.clientHeight / 4;
  }
}

const passage = (target) => (target instanceof Element ? target.closest(".p[id]") : null);
document.addEventListener("mouseover", (event) => light(passage(event.target)?.id || current));
document.addEventListener("focusin", (event) => light(passage(event.target)?.id || current));
document.addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest(".n, .map a") : null;
  if (!link) return;
  event.preventDefault();
  go(link.getAttribute("href").slice(1));
});
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !["n", "p"].includes(event.key)) return;
  if (event.target instanceof Element && event.target.closest("input, textarea, select")) return;
  const all = [...document.querySelectorAll(".side:first-child .p[id]")].map((end) => end.id);
  if (!all.length) return;
  const at = all.indexOf(current && "a" + current.slice(1));
  const step = event.key === "n" ? at + 1 : (at < 0 ? 0 : at) - 1;
  go(all[(step + all.length) % all.length]);
});
const tell = () => {
  current = "";
  for (const keys of document.querySelectorAll("[data-keys]")) keys.hidden = false;
};
document.addEventListener("pairshown", tell);
tell();
