"""Documents that are equivalent leave before the join and come back with their representative.

The same three kinds as on one machine (roughly.clustering.equivalence): identical, lexical,
shingle. The groups are aggregates that Spark combines before it shuffles, so a text that a tenth
of all documents have is no trouble.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from roughly.condition import Condition
from roughly.sketch import EQUIVALENT_SAMPLES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def equivalents(documents: DataFrame, condition: Condition, by_sketch: bool = True) -> DataFrame:
    """Of every document its number, that of its `representative`, and `kind`, null for itself. Only
    those of one category are equivalent, where that counts; with `by_sketch` those of the same
    sketch, and of the same simhash where that counts, are too."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    within = [] if condition.within is None else ["category"]
    form, alike_by = ["canonical", *within], ["sketch", "size", *within]
    firsts = ["number", "content", "sketch", "size", "kept"]
    if condition.method == "both":
        # Documents without a simhash may be equivalent, too.
        documents = documents.withColumn("bits", F.coalesce(F.hex("simhash"), F.lit("")))
        alike_by, firsts = [*alike_by, "bits"], [*firsts, "bits"]
    first = F.min(F.struct(*firsts)).alias("first")
    forms = documents.groupBy(*form).agg(first).select(*form, "first.*")
    forms = forms.withColumnRenamed("number", "form").withColumnRenamed("content", "form_content")
    if by_sketch:
        # A form that says too little is a group of its own.
        poor = F.when(F.col("kept") < EQUIVALENT_SAMPLES, F.col("form"))
        alike = Window.partitionBy(*alike_by, poor)
        forms = forms.withColumn("representative", F.min("form").over(alike))
    else:
        forms = forms.withColumn("representative", F.col("form"))
    forms = forms.select(*form, "form", "form_content", "representative")
    kind = (
        F.when(F.col("representative") != F.col("form"), "shingle")
        .when(F.col("number") == F.col("form"), F.lit(None))
        .when(F.col("content") == F.col("form_content"), "identical")
        .when(F.col("size") == 0, "empty")
        .otherwise("lexical")
    )
    # A shingle-equivalent form's own first document, and whoever has the same form.
    return documents.join(forms, form).select("number", "representative", kind.alias("kind"))
