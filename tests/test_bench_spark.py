"""The recipe that Spark is compared with estimates what it should; recall is what it says."""

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
