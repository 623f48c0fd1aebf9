"""Text in other scripts than plain Latin, whose letters are folded and classed one by one."""

from functools import partial

from bench.alphabet import ALPHABETS
from bench.corpus import Corpus, arrow_batches, describe
from bench.measure import Scale, Task, level_that_counts, measure
from bench.report import Check, Section, merged
from bench.sketch import EQUAL, SKETCHERS, check_levels, sketch_all
from bench.text import script_texts


def run(corpus: Corpus, scale: Scale) -> Section:
    level = level_that_counts()
    sketcher = SKETCHERS["adaptive:200 w=5"]
    section = Section(
        "script", f"text in other scripts -> adaptive:200 sketch, w=5, {level}, one core"
    )
    tasks: list[Task] = []
    checks: list[Check] = []
    for name in ALPHABETS:
        documents = script_texts(name, scale.script_texts)
        described = describe(documents)
        batches = arrow_batches(documents)
        label = f"{name} ({described.non_ascii:.0%} of the bytes not ASCII)"
        run_it = partial(sketch_all, sketcher, batches, 1, level, "text")
        tasks.append(Task(label, run_it, round(described.megabytes * 1e6)))
        checks += check_levels(name, sketcher, batches, "text")
    section.timings = list(measure(tasks, scale).values())
    section.checks.append(merged(EQUAL, checks))
    return section
