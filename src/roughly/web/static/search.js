// A file that is dropped on the text box is looked for at once, and so is one that is chosen.
// Without this script the form's own file field does the same.
const form = document.getElementById("query");
const drop = form.querySelector("[data-drop]");
const file = document.getElementById("file");
const text = document.getElementById("text");
form.querySelector("[data-drop-hint]").hidden = false;

const holdsFile = (event) => [...event.dataTransfer.types].includes("Files");
drop.addEventListener("dragover", (event) => {
  if (!holdsFile(event)) return;
  event.preventDefault();
  drop.classList.add("over");
});
drop.addEventListener("dragleave", () => drop.classList.remove("over"));
drop.addEventListener("drop", (event) => {
  drop.classList.remove("over");
  if (!holdsFile(event)) return;
  event.preventDefault();
  if (!event.dataTransfer.files.length) return;
  file.files = event.dataTransfer.files;
  file.dispatchEvent(new Event("change"));
});
file.addEventListener("change", () => {
  if (!file.files.length) return;
  text.value = "";
  form.requestSubmit();
});
text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
});
