"""Hypothesis strategies for values that a JSON Schema allows, as far as the service's OpenAPI
description uses one, and for values that are nearly so."""

from typing import Any

from hypothesis import strategies as st

# What documents, URLs and dates may look like; many of them are in the corpus of `service.py`.
_TEXTS = st.one_of(
    st.sampled_from(
        [
            "",
            "https://example.com/a",
            "example.com/soup",
            "the quick brown fox jumps over the lazy dog and runs away from the big bad wolf",
            "<p>fox</p>",
            "2026-01-01",
            "2026",
            "latest",
            "../../etc/passwd",
            "\ud800",
            "\0",
        ]
    ),
    st.text(max_size=50),
)
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=5,
)


def values(schema: dict[str, Any], components: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that a schema allows."""
    if "$ref" in schema:
        return values(components[schema["$ref"].rpartition("/")[2]], components)
    if "anyOf" in schema:
        return st.one_of([values(each, components) for each in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kind = schema.get("type")
    if kind == "object" and "properties" in schema:
        required = set(schema.get("required", ()))
        parts = {name: values(each, components) for name, each in schema["properties"].items()}
        return st.fixed_dictionaries(
            {name: part for name, part in parts.items() if name in required},
            optional={name: part for name, part in parts.items() if name not in required},
        )
    if kind == "array":
        return st.lists(values(schema.get("items", {}), components), max_size=4)
    if kind == "string":
        if "pattern" in schema:
            return st.from_regex(schema["pattern"], fullmatch=True)
        least, most = schema.get("minLength", 0), schema.get("maxLength", 1 << 20)
        return _TEXTS.filter(lambda text: least <= len(text) <= most)
    if kind == "integer":
        return st.integers(schema.get("minimum", -(2**63)), schema.get("maximum", 2**63))
    if kind == "number":
        above = schema.get("exclusiveMinimum")
        return st.floats(
            schema.get("minimum", above),
            schema.get("maximum"),
            exclude_min=above is not None,
            allow_nan=False,
            allow_infinity=False,
        )
    if kind == "boolean":
        return st.booleans()
    if kind == "null":
        return st.none()
    return JUNK


def nearly(schema: dict[str, Any], components: dict[str, Any]) -> st.SearchStrategy[Any]:
    """The same with one field that is anything, or one that nobody knows."""
    right = values(schema, components)
    names = list(
        components.get(schema.get("$ref", "").rpartition("/")[2], {}).get("properties", {})
    )
    return st.builds(
        lambda value, name, junk: {**value, name: junk} if isinstance(value, dict) else junk,
        right,
        st.sampled_from([*names, "unknown"]),
        JUNK,
    )
