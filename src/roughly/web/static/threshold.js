// The threshold slider: while it moves, the page is asked for again at the new threshold and its
// counts, plots and lists take the place of the old ones. One request runs at a time; of what was
// asked for meanwhile only the last is sent. Without this script the form does the same.
const form = document.querySelector("form[data-threshold]");
const input = form.querySelector("input[type=range]");
const shown = form.querySelector("output");
const status = form.querySelector("[data-status]");
const PARTS = ["counts", "shown"];
let running = false;
let wanted = null;

const opened = () => [...document.querySelectorAll("#shown details[open]")].map((each) =>
  each.closest("[id]")?.id);

async function cluster(value) {
  const address = new URL(form.action);
  address.searchParams.set(input.name, value);
  const answer = await fetch(address, { headers: { Accept: "text/html" } });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (!answer.ok) {
    status.textContent = page.querySelector(".error")?.textContent ?? "This did not work.";
    return;
  }
  const open = opened();
  for (const id of PARTS) document.getElementById(id).replaceWith(page.getElementById(id));
  for (const id of open) document.getElementById(id)?.querySelector("details")?.setAttribute("open", "");
  const alternate = document.querySelector("link[rel=alternate]");
  alternate?.setAttribute("href", page.querySelector("link[rel=alternate]")?.getAttribute("href"));
  document.querySelector("footer").replaceWith(page.querySelector("footer"));
  status.textContent = "";
  history.replaceState(null, "", address.pathname + address.search);
}

async function follow() {
  if (running) return;
  running = true;
  while (wanted !== null) {
    const value = wanted;
    wanted = null;
    try {
      await cluster(value);
    } catch {
      status.textContent = "The service does not answer.";
    }
  }
  running = false;
}

input.addEventListener("input", () => {
  shown.value = Number(input.value).toString();
  wanted = input.value;
  follow();
});
form.querySelector("button").hidden = true;
form.addEventListener("submit", (event) => event.preventDefault());
