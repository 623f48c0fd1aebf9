"""The four phases on Spark: sketch, equivalents, pairs, forest; and what they give.

    documents -> sketches -> numbered in document order -> equivalents -> frequencies
    -> hubs of masses -> pairs at every level -> forests -> clusters at the thresholds

The answer is that of `roughly.cluster`: the same pairs, weights and clusters. Every arrow is a
table that is kept (checkpoint.py); nothing that grows with the documents comes to the driver. Where
the sketches are few, one task does all that follows them (alone.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from roughly.clustering.clusters import Linkage, check_linkage
from roughly.clustering.comparable import by_sketch
from roughly.clustering.settings import Settings, Threshold, condition_for, settings_for
from roughly.condition import Method
from roughly.errors import ParameterError
from roughly.parameters import Parameters
from roughly.simhashing.simhasher import Simhasher
from roughly.sketcher import Sketcher, preset_named
from roughly.spark.alone import finished, part_of
from roughly.spark.attribute import attribute_columns
from roughly.spark.checkpoint import Checkpoints, Progress
from roughly.spark.clusters import Sizes, SparkClusters, reaching_links
from roughly.spark.counting import counted
from roughly.spark.equivalence import equivalents
from roughly.spark.exact import Recount
from roughly.spark.forest import spanning_forest
from roughly.spark.frequency import with_frequencies
from roughly.spark.join import measure_of
from roughly.spark.order import document_order, numbered, with_values
from roughly.spark.pair_phase import PairPhase
from roughly.spark.session import SparkError, check_spark
from roughly.spark.sketching import Fields, checked_sum, fields_of, readable, sketched
from roughly.spark.star import simhash_stars, stars

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Sizes", "SparkClusters", "cluster", "cluster_by"]


def cluster(
    documents: DataFrame,
    threshold: Threshold | None = None,
    *,
    containment: Threshold | None = None,
    floor: Threshold | None = None,
    containment_floor: Threshold | None = None,
    linkage: Linkage = "single",
    exact: bool = False,
    sketcher: Sketcher | None = None,
    preset: str | None = None,
    cut_off: int | None = None,
    method: Method | None = None,
    distance: int | None = None,
    size_ratio: Threshold | None = None,
    within: str | None = None,
    simhasher: Simhasher | None = None,
    **options: Any,
) -> SparkClusters:
    """Groups the documents of a DataFrame as `roughly.cluster` does, with the same parameters;
    `cut_off` is that of the preset broder97. Other options are those of `cluster_by`."""
    if sketcher is not None and not isinstance(sketcher, Sketcher):
        raise ParameterError(f"sketcher: wrong type: {type(sketcher).__name__}, wanted a Sketcher")
    if sketcher is not None and preset is not None:
        raise ParameterError("preset: cannot stand beside a sketcher: wanted one of the two")
    if preset is not None:
        sketcher = preset_named(preset).sketcher()
    sketcher = Sketcher() if sketcher is None else sketcher
    condition = condition_for(preset, method, distance, size_ratio, within, simhasher)
    settings = settings_for(
        sketcher.parameters,
        threshold,
        floor,
        containment,
        containment_floor,
        preset,
        cut_off,
        exact,
        condition,
    )
    return cluster_by(settings, documents, sketcher, linkage, **options)


def cluster_by(
    settings: Settings,
    documents: DataFrame,
    sketcher: Sketcher,
    linkage: Linkage = "single",
    *,
    content_type: str = "auto",
    text_field: str | None = None,
    id_field: str | None = None,
    date_field: str | None = None,
    checkpoint: str | None = None,
    progress: Progress | None = None,
    sizes: Sizes | None = None,
) -> SparkClusters:
    """The same by settings that are made already.

    `documents` has a column `text` (text or bytes), a column `id`, unique, and may have a column
    `date`; other names can be given. `checkpoint` is a directory that all executors can write, in
    which a run that was stopped goes on; a local master needs none. `progress` is called with the
    name of every table that is made, its rows, and the seconds that it took.
    """
    check_spark()
    check_linkage(linkage, settings.containment, settings.exact)
    parameters, condition = sketcher.parameters, settings.condition
    fields = fields_of(
        documents, text_field, id_field, date_field, content_type, condition.category_field
    )
    run = {"sketch": str(parameters), "fields": str(fields), "settings": settings.to_dict()}
    if linkage != "single":
        run["linkage"] = linkage
    checkpoints = Checkpoints(documents.sparkSession, checkpoint, run, progress)
    sizes = sizes or Sizes()
    texts = readable(documents, fields)
    made = sketched(texts, sketcher, fields, condition=condition)
    sketches = checkpoints.keep("sketches", made)
    elements = _checked_elements(sketches, checkpoints)
    # One task has no texts to count pairs on.
    if elements <= sizes.alone and not settings.exact:
        whole = checkpoints.keep("finished", finished(sketches, parameters, settings, linkage))
        return _taken_apart(whole, parameters, settings, checkpoints, sizes, linkage)
    ordered = numbered(sketches.drop("values"), document_order(), "ordered", checkpoints)
    named = ordered.select("number", "id").join(texts.select("id", "text"), "id")
    texts = named.selectExpr("number", "text", "cast(null as boolean) as html")
    return _phases(
        sketches, ordered, texts, fields, parameters, settings, linkage, checkpoints, sizes
    )


def _checked_elements(sketches: DataFrame, checkpoints: Checkpoints) -> int:
    """The elements of the table `sketches`, which goes if its ids are wrong: documents that are
    put right are to be sketched anew."""
    try:
        return checked_sum(sketches, "kept")
    except SparkError:
        checkpoints.drop("sketches")
        raise


def _taken_apart(
    whole: DataFrame,
    parameters: Parameters,
    settings: Settings,
    checkpoints: Checkpoints,
    sizes: Sizes,
    linkage: Linkage,
) -> SparkClusters:
    """What one task has found."""
    documents = part_of(whole, "documents")
    resembling = part_of(whole, "pairs-resemblance")
    forest = part_of(whole, "links-resemblance").drop("mass")
    containing = contained = None
    if settings.containment_floor is not None:
        containing = part_of(whole, "pairs-containment")
        contained = part_of(whole, "links-containment").drop("mass")
    return SparkClusters(
        parameters,
        settings,
        documents.select("number", "id", "date"),
        documents.select("number", "representative", "kind"),
        None,
        resembling.where("mass").selectExpr("b as number"),
        resembling,
        containing,
        forest,
        contained,
        checkpoints,
        sizes,
        documents,
        linkage,
    )


def _phases(
    sketches: DataFrame,
    ordered: DataFrame,
    texts: DataFrame,
    fields: Fields,
    parameters: Parameters,
    settings: Settings,
    linkage: Linkage,
    checkpoints: Checkpoints,
    sizes: Sizes,
) -> SparkClusters:
    """Phases 2 to 4, over documents that are sketched and numbered."""
    more = attribute_columns(settings.condition)
    groups = equivalents(ordered, settings.condition, by_sketch(settings))
    groups = checkpoints.keep("equivalents", groups)
    own = groups.where("representative = number").select("number")
    plain = ordered.select("id", "number", "size", "level", "kept", *more).join(own, "number")
    plain = with_values(plain, sketches)
    if settings.method == "join":
        plain = with_frequencies(plain, parameters, settings.mass, sizes.long_list, more)
    documents = checkpoints.keep("frequencies", plain)
    recount = Recount(documents, texts, parameters, fields) if settings.exact else None
    found = PairPhase(documents, parameters, settings, checkpoints, sizes, recount).run()
    resembling, containing = found.resembling, found.containing
    forest = spanning_forest(resembling, "links-resemblance", checkpoints, sizes.fitting)
    contained = centres = None
    if containing is not None:
        contained = spanning_forest(containing, "links-containment", checkpoints, sizes.fitting)
    if linkage == "star" and settings.method == "hamming":
        pairs = resembling.where("not mass").drop("mass")
        centres = simhash_stars(pairs, found.links, checkpoints, sizes.fitting)
    elif linkage == "star":
        centres = stars(
            reaching_links(resembling.drop("mass"), settings.threshold),
            found.links,
            documents,
            parameters,
            settings.threshold,
            settings.condition,
            checkpoints,
            sizes.fitting,
        )
    if settings.method == "hamming":
        keys = resembling.select("a", "b", "mass")
        told = counted(keys, documents, parameters, measure_of(parameters))
        resembling = told.join(keys, ["a", "b"])
    return SparkClusters(
        parameters,
        settings,
        ordered.select("number", "id", "date"),
        groups,
        documents.select("number", "size", "level", "values"),
        found.links.selectExpr("b as number"),
        resembling,
        containing,
        forest,
        contained,
        checkpoints,
        sizes,
        None,
        linkage,
        centres,
    )
