"""Documents that are equivalent leave before the join and come back with their representative.

The same three kinds as on one machine (roughly.clustering.equivalence): identical, lexical,
shingle. The groups are aggregates that Spark combines before it shuffles, so a text that a tenth
of all documents have is no trouble.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from roughly.sketch import EQUIVALENT_SAMPLES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def equivalents(documents: DataFrame) -> DataFrame:
    """Of every document its number, that of its `representative`, and `kind`, null for itself."""
    from pyspark.sql import functions as F

    first = F.min(F.struct("number", "content", "sketch", "size", "kept")).alias("first")
    forms = documents.groupBy("canonical").agg(first).select("canonical", "first.*")
    forms = forms.withColumnRenamed("number", "form").withColumnRenamed("content", "form_content")
    rich = forms.where(F.col("kept") >= EQUIVALENT_SAMPLES)
    alike = rich.groupBy("sketch", "size").agg(F.min("form").alias("alike"))
    enough = F.col("kept") >= EQUIVALENT_SAMPLES
    forms = (
        forms.join(alike, ["sketch", "size"], "left")
        .withColumn("representative", F.when(enough, F.col("alike")).otherwise(F.col("form")))
        .select("canonical", "form", "form_content", "representative")
    )
    kind = (
        F.when(F.col("representative") != F.col("form"), "shingle")
        .when(F.col("number") == F.col("form"), F.lit(None))
        .when(F.col("content") == F.col("form_content"), "identical")
        .when(F.col("size") == 0, "empty")
        .otherwise("lexical")
    )
    # A shingle-equivalent form's own first document, and whoever has the same form.
    return documents.join(forms, "canonical").select("number", "representative", kind.alias("kind"))
