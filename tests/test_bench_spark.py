"""The recipe that Spark is compared with estimates what it should; recall is what it says."""

import subprocess
import sys

import numpy as np

from bench import spark, spark_recipe


def test_the_recipe_estimates_resemblance() -> None:
    """Of 100 shingles each 60 are common: 60 / 140, give or take four standard errors."""
    words = [f"w{i}" for i in range(144)]
    a, b = " ".join(words[:104]), " ".join(words[40:])
    agreeing = np.mean(spark_recipe.signature(a) == spark_recipe.signature(b))
    expected = 60 / 140
    error = (expected * (1 - expected) / spark_recipe.PERMUTATIONS) ** 0.5
    assert abs(agreeing - expected) < 4 * error


def test_bands_are_of_the_document() -> None:
    found = list(spark_recipe.bands_of({"number": 7, "text": "one two three four five six"}))
    assert len(found) == spark_recipe.BANDS
    assert {number for _, number in found} == {7}
    assert len({key for key, _ in found}) == spark_recipe.BANDS
    again = list(spark_recipe.bands_of({"number": 8, "text": "ONE two, three four five six"}))
    assert [key for key, _ in again] == [key for key, _ in found]


def test_recall() -> None:
    clusters = {"a": 1, "b": 1, "c": 2, "d": 2}
    assert spark.recall([("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")], clusters) == 0.5


def test_every_table_has_a_phase() -> None:
    tables = {"sketches": "sketch", "rung-3-5-hubs": "pairs", "pairs-resemblance": "pairs"}
    tables |= {"links-resemblance-0": "forest", "documents": "clusters", "fetched": "clusters"}
    assert {name: spark.phase_of(name) for name in tables} == tables


def test_every_phase_is_explained() -> None:
    """With what it takes beside the local engine, where that has such a phase."""
    assert set(spark.PHASES.values()) | {spark.CLUSTERS} == set(spark.REASONS)
    told = spark.explanation("divided", "sort", spark.Spent(9, 4, 2), 1.5)
    assert told.startswith("divided, sort: 6.0 CPU s, 4.0 times the 1.5 CPU s of the local engine:")
    told = spark.explanation("divided", "clusters", spark.Spent(9, 4, 2), None)
    assert told.startswith("divided, clusters: 6.0 CPU s, no phase there: ")


_LOOP = """
from bench import spark
watch = spark.Watch()
while (spent := watch.read()).python == 0:
    sum(range(10_000_000))
assert spent.java == 0 and spent.cpu == spent.python, spent
"""


_ENDED = """
import os, signal, subprocess, sys, time
from bench import spark
signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks what it had spent
child = subprocess.Popen([sys.executable, "-c", "while True: sum(range(100_000))"])
begin = spark.cpu_seconds()[1]
while (before := spark.cpu_seconds()[1]) < begin + 2:
    time.sleep(0.1)
child.kill()
while os.path.exists(f"/proc/{child.pid}"):
    time.sleep(0.01)
assert spark.cpu_seconds()[1] >= before, spark._seen
"""


def test_what_ended_meanwhile_counts() -> None:
    """A process that is gone has spent what it had when it was seen last."""
    subprocess.run([sys.executable, "-c", _ENDED], check=True)


def test_what_was_spent_adds_up() -> None:
    """A loop of a process is Python's. One of its own has no Java, which other tests may start."""
    subprocess.run([sys.executable, "-c", _LOOP], check=True)
    assert spark.Spent(1, 2, 3) + spark.Spent(4, 5, 6) == spark.Spent(5, 7, 9)
