"""Jobs on pages: how far one is, a way to stop it, a list of all, and the files that one has made.

A page whose data takes long shows `section` in its place; a script then asks for the job's own data
now and then, and without the script there is a link that does.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from roughly.clustering.sketching import no_progress
from roughly.report.figure import duration, percent, table
from roughly.report.markup import escaped, line
from roughly.web.job import Jobs, state_of
from roughly.web.pages.layout import address, frame
from roughly.web.pages.page import Data, Elsewhere, File, Page, Query, View
from roughly.web.work import WORK

SCRIPT = "job.js"
_WORDS = {"running": "running", "done": "done", "failed": "failed", "cancelled": "cancelled"}
_KEPT = 8
_made: dict[Any, Data] = {}
_TYPES = {".jsonl": "application/x-ndjson; charset=utf-8"}


def jobs_of(view: View) -> Jobs:
    """The jobs of the corpus that is viewed."""
    return Jobs(view.path)


def begin(view: View, work: str, arguments: Mapping[str, Any], title: str, place: str) -> Elsewhere:
    """Starts a job, or finds it, and leads to it; `place` is the path of its result."""
    state = state_of(view.corpus)
    job = jobs_of(view).start(work, arguments, state, title, place)
    return Elsewhere(job.place if job.state == "done" else f"/jobs/{job.id}")


def outcome(view: View, work: str, arguments: Mapping[str, Any], direct: bool) -> Data:
    """What is known of some work without starting a job: its `result`, or the `job` that is on it,
    or neither. `direct`: what takes no time is done at once."""
    jobs = jobs_of(view)
    job = jobs.find(jobs.id_of(work, arguments, state_of(view.corpus)))
    if job is not None and job.state == "done":
        return {"result": jobs.result(job.id), "job": None}
    if job is None and direct:
        return {"result": _at_once(view, work, arguments), "job": None}
    return {"result": None, "job": None if job is None else job.to_dict()}


def _at_once(view: View, work: str, arguments: Mapping[str, Any]) -> Data:
    """What was found without a job is kept, for as long as not much else is asked."""
    key = str(view.path), state_of(view.corpus), work, tuple(sorted(arguments.items()))
    made = _made.get(key)
    if made is None:
        made = WORK[work](view.corpus, dict(arguments), Path(), no_progress)
        if len(_made) >= _KEPT:
            _made.clear()
        _made[key] = made
    return made


# --- one job --------------------------------------------------------------------------------------


def data(view: View, query: Query) -> Data:
    """How far a job is."""
    job = jobs_of(view).get(str(query.path["id"]))
    return {"job": job.to_dict()}


def html(found: Data) -> str:
    """The same as a page."""
    job = found["job"]
    return frame(
        job["title"],
        f"<h1>{line(job['title'], 200)}</h1>{section(job)}"
        '<p class="told"><a href="/jobs">All jobs</a></p>',
        twin=f"/jobs/{job['id']}.json",
        scripts=(SCRIPT,),
    )


def section(job: Data) -> str:
    """How far it is, with a way to stop it; or how it ended."""
    path = f"/jobs/{job['id']}"
    if job["state"] == "running":
        value = "" if job["share"] is None else f' value="{job["share"]:.4f}"'
        body = (
            f'<progress max="1"{value} aria-label="Progress of this work"></progress>'
            f'<p class="told" id="job-words">{words(job)}</p>'
            f'<div class="row"><form method="post" action="{path}/cancel">'
            '<button class="plain">Cancel</button></form>'
            f'<a id="job-reload" href="{path}">See how far it is now</a></div>'
        )
    elif job["state"] == "done":
        body = (
            f"<p>It took {duration(job['seconds'])}.</p>"
            f'<p><a class="button" href="{escaped(job["place"])}">Show the result</a></p>'
        )
    elif job["state"] == "cancelled":
        body = f"<p>It was stopped after {duration(job['seconds'])}; nothing was kept.</p>"
    else:
        hint = f'<p class="told">{line(job["hint"], 400)}</p>' if job["hint"] else ""
        body = f'<p class="error" role="alert">{line(job["message"], 800)}</p>{hint}'
    title = {
        "running": "Working on it",
        "done": "Done",
        "failed": "This did not work",
        "cancelled": "Cancelled",
    }[job["state"]]
    return (
        f'<section id="job" data-state="{job["state"]}" data-job="{path}.json"'
        f' data-place="{escaped(job["place"])}">'
        f'<div role="status"><h2>{title}</h2></div>{body}</section>'
    )


def words(job: Data) -> str:
    """How far a job is, in words."""
    now = job["progress"]
    if now["total"]:
        done = f"{now['done']:,} of {now['total']:,} steps, {percent(now['done'], now['total'])}"
    else:
        done = f"{now['done']:,} {now['unit']}" if now["done"] else "has begun"
    return escaped(f"{now['phase']}: {done}; {duration(job['seconds'])} so far")


# --- stopping, files, all of them -----------------------------------------------------------------


def cancel(view: View, query: Query) -> Elsewhere:
    """Stops a job."""
    job = jobs_of(view).cancel(str(query.path["id"]))
    return Elsewhere(f"/jobs/{job.id}")


def file(view: View, query: Query) -> File:
    """A file that a job has made."""
    path = jobs_of(view).file(str(query.path["id"]), str(query.path["name"]))
    content_type = _TYPES.get(path.suffix, "text/plain; charset=utf-8")
    return File(path, path.name, content_type)


def all_data(view: View, query: Query) -> Data:
    """Every job that is known, the latest first."""
    return {"jobs": [job.to_dict() for job in jobs_of(view).all()]}


def all_html(found: Data) -> str:
    """The same as a page."""
    rows = [
        (
            f'<a href="/jobs/{job["id"]}">{line(job["title"], 120)}</a>',
            _WORDS[job["state"]] + (f", {job['share']:.0%}" if _is_known(job) else ""),
            duration(job["seconds"]),
        )
        for job in found["jobs"]
    ]
    shown = '<p class="none">There are none.</p>'
    if rows:
        listed = table(("Work", "State", "Time"), rows, words=2, label="Jobs")
        shown = f'<section id="jobs">{listed}</section>'
    return frame(
        "Jobs",
        '<h1>Jobs</h1><p class="told">Work that takes a while runs by itself, at most two at a'
        f" time; what it found is kept for a day.</p>{shown}",
        twin="/jobs.json",
    )


def _is_known(job: Data) -> bool:
    return job["state"] == "running" and job["share"] is not None


def start_form(path: str, fields: Mapping[str, object], text: str) -> str:
    """A button that starts work."""
    hidden = "".join(
        f'<input type="hidden" name="{name}" value="{escaped(str(value))}">'
        for name, value in fields.items()
    )
    return f'<form method="post" action="{address(path)}">{hidden}<button>{text}</button></form>'


def _nothing(found: Data) -> str:
    """Never shown: these pages lead elsewhere, or are files."""
    return frame("Jobs", "<h1>Jobs</h1>")


PAGES = (
    Page("/jobs", all_data, all_html),
    Page("/jobs/{id}", data, html),
    Page("/jobs/{id}/cancel", cancel, _nothing, ("POST",)),
    Page("/jobs/{id}/files/{name}", file, _nothing),
)
