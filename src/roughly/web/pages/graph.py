"""A small drawing of a cluster: its documents as dots, near where they are alike, joined where they
resemble each other enough.

Places come from the resemblances alone (classical scaling of 1 - resemblance, then dots that touch
are pushed apart), so that the same cluster is always drawn the same way.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from roughly.report.markup import line
from roughly.report.verdict import plural, share

Places = npt.NDArray[np.float64]

WIDTH, HEIGHT = 460, 320
_MARGIN = 26
_DOT = 11  # its radius
_ROUNDS = 80
# More lines than this are a blur; the strongest are drawn.
_LINES = 160


def places(resemblance: Places) -> list[list[float]]:
    """Where to draw documents, from the resemblance of each to each: x and y in the drawing."""
    count = len(resemblance)
    if count == 1:
        return [[WIDTH / 2, HEIGHT / 2]]
    square = (1 - resemblance) ** 2
    centred = -0.5 * (square - square.mean(0) - square.mean(1)[:, None] + square.mean())
    values, vectors = np.linalg.eigh(centred)
    found: Places = vectors[:, -2:][:, ::-1] * np.sqrt(np.maximum(values[-2:][::-1], 0))
    if found.shape[1] < 2:
        found = np.column_stack([found, np.zeros(count)])
    # An eigenvector may point either way: the first document lies to the left, and above.
    found *= np.where(found[0] > 0, -1, 1)
    found = _filling(_spread(_filling(found)))
    return [[round(float(x), 1), round(float(y), 1)] for x, y in found]


def _filling(found: Places) -> Places:
    """Stretched to the drawing's width and height; what has no extent lies in its middle."""
    room = np.array([WIDTH - 2 * _MARGIN, HEIGHT - 2 * _MARGIN], float)
    low, extent = found.min(0), np.ptp(found, axis=0)
    middle = room / 2 + _MARGIN
    stretched = _MARGIN + (found - low) / np.maximum(extent, 1e-9) * room
    return np.where(extent > 1e-9, stretched, middle)


def _spread(found: Places) -> Places:
    """Dots that touch are pushed apart; those in one place leave it in different directions."""
    count = len(found)
    turn = np.arange(count) * 2.399963  # the golden angle
    found = found + 0.5 * np.column_stack([np.cos(turn), np.sin(turn)])
    wanted = min(2.6 * _DOT, 0.8 * math.sqrt(WIDTH * HEIGHT / count))
    for _ in range(_ROUNDS):
        apart = found[:, None] - found[None]
        far = np.maximum(np.hypot(apart[..., 0], apart[..., 1]), 1e-6)
        push = np.maximum(wanted - far, 0) / far / 2
        np.fill_diagonal(push, 0)
        if not push.any():
            break
        found = found + (apart * push[..., None]).sum(1) * 0.5
    return found


def drawing(graph: dict[str, Any]) -> str:
    """The graph as SVG: every dot leads to its document beside the first one."""
    nodes = graph["nodes"]
    strongest = sorted(graph["edges"], key=lambda edge: (not edge["link"], -edge["resemblance"]))
    lines = "".join(_edge(nodes, edge) for edge in reversed(strongest[:_LINES]))
    dots = "".join(_node(node) for node in nodes)
    said = f"{plural(len(nodes), 'document')} and {plural(len(graph['edges']), 'resemblance')}"
    return (
        f'<svg class="plot graph" viewBox="0 0 {WIDTH} {HEIGHT}" role="group" '
        f'aria-label="Resemblances of {said}">{lines}{dots}</svg>'
    )


def _edge(nodes: list[dict[str, Any]], edge: dict[str, Any]) -> str:
    a, b = nodes[edge["a"]], nodes[edge["b"]]
    hue = "weakest" if edge["weakest"] else "link" if edge["link"] else "like"
    said = f"{a['number']} and {b['number']}: {share(edge['resemblance'], 3)}"
    return (
        f'<path class="{hue}" d="M{a["x"]} {a["y"]}L{b["x"]} {b["y"]}"><title>{said}</title></path>'
    )


def _node(node: dict[str, Any]) -> str:
    said = f"{node['number']}: {line(node['id'], 80)}"
    size = " few" if node["number"] < 1000 else " many"
    shape = (
        f'<title>{said}</title><circle cx="{node["x"]}" cy="{node["y"]}" r="{_DOT}"/>'
        f'<text class="{size.strip()}" x="{node["x"]}" y="{node["y"] + 4:.1f}" '
        f'text-anchor="middle">{node["number"]}</text>'
    )
    chosen = f" {node['side']}" if node["side"] else ""
    return (
        f'<a class="node{chosen}" href="{node["address"]}" '
        f'aria-label="Show document {said}">{shape}</a>'
    )
