// Choosing A or B of a cluster shows the two at once, in place. Without this script the form's
// button does the same.
const form = document.querySelector("form[data-pair]");

async function show(address, focus) {
  const answer = await fetch(address, { headers: { Accept: "text/html" } });
  if (!answer.ok) return location.assign(address);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const id of ["pair", "graph"]) document.getElementById(id).replaceWith(page.getElementById(id));
  for (const radio of form.querySelectorAll("input[type=radio]")) {
    radio.checked = page.querySelector(`input[name=${radio.name}][value="${radio.value}"]`)?.checked ?? false;
  }
  for (const footer of document.querySelectorAll("footer")) footer.replaceWith(page.querySelector("footer"));
  history.replaceState(null, "", address.pathname + address.search);
  document.dispatchEvent(new Event("pairshown"));
  if (focus) document.getElementById("pair").scrollIntoView();
}

if (form) {
  form.addEventListener("change", () => {
    const address = new URL(form.getAttribute("action"), location.href);
    address.hash = "";
    for (const [key, value] of new FormData(form)) address.searchParams.set(key, value);
    show(address, false);
  });
  document.addEventListener("click", (event) => {
    const node = event.target instanceof Element ? event.target.closest("#graph a[href*='#pair']") : null;
    if (!node || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const address = new URL(node.getAttribute("href"), location.href);
    const page = new URLSearchParams(location.search).get("page");
    if (page) address.searchParams.set("page", page);
    address.hash = "";
    show(address, true);
  });
}
