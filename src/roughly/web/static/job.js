/* Asks how far a job is, and shows it, until it has ended; then the page of its result, or this page
   again. Without this script the page has a link for the same. */
const place = document.getElementById("job");
const every = 700;

const number = (value) => value.toLocaleString("en-US");

function words(job) {
  const now = job.progress;
  const time = job.seconds < 60 ? `${job.seconds.toFixed(0)} s` : `${Math.floor(job.seconds / 60)} min`;
  const share = job.share === null ? "" : `, ${(100 * job.share).toFixed(1)}%`;
  const done = now.total
    ? `${number(now.done)} of ${number(now.total)} steps${share}`
    : now.done ? `${number(now.done)} ${now.unit}` : "has begun";
  return `${now.phase}: ${done}; ${time} so far`;
}

function show(job) {
  const bar = place.querySelector("progress");
  if (job.share === null) bar.removeAttribute("value");
  else bar.value = job.share;
  document.getElementById("job-words").textContent = words(job);
}

async function look() {
  try {
    const answer = await fetch(place.dataset.job, { cache: "no-store" });
    if (answer.ok) {
      const { job } = await answer.json();
      if (job.state === "done") return location.replace(place.dataset.place);
      if (job.state !== "running") return location.reload();
      show(job);
    }
  } catch {
    // The service may be starting anew: the next look tells.
  }
  setTimeout(look, every);
}

if (place && place.dataset.state === "running") {
  document.getElementById("job-reload").hidden = true;
  setTimeout(look, every);
}
