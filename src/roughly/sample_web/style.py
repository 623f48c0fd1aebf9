"""The colours, style sheets and ornaments of the sample web's modern pages; no words to read."""

# Background, paper, ink, accent, tint of a site.
PALETTES = (
    ("#f6f1e7", "#fffdf8", "#2e2a25", "#8a3b12", "#efe3cf"),
    ("#eef3f2", "#ffffff", "#1f2f33", "#12616b", "#d8e8e6"),
    ("#f3f0f7", "#ffffff", "#2b2633", "#5b3a8c", "#e4dcf0"),
    ("#f1f4ea", "#fffffb", "#293021", "#4c6b1f", "#e0e9cd"),
    ("#f7efee", "#fffdfc", "#332625", "#a02c3a", "#f1dcdb"),
    ("#eef1f6", "#ffffff", "#222a38", "#2b4c8c", "#dae2f0"),
    ("#f5f3ee", "#fffefb", "#2c2c28", "#6b5a1e", "#eae3cc"),
    ("#edf2f0", "#fdfffe", "#22302b", "#1f6b4c", "#d5e8df"),
)

_SERIF = "Georgia, 'Times New Roman', 'Noto Serif', serif"
_SANS = "'Helvetica Neue', Arial, 'Noto Sans', sans-serif"

_BROADSHEET = f"""
body {{ margin: 0; background: BACK; color: INK; font: 18px/1.65 {_SERIF}; }}
.sheet {{ max-width: 42rem; margin: 2.5rem auto; padding: 2.5rem 3rem; background: PAPER;
  box-shadow: 0 1px 6px rgba(0,0,0,.14); }}
header {{ text-align: center; border-bottom: 3px double ACCENT; padding-bottom: 1rem; }}
.name {{ font-size: 1.9rem; letter-spacing: .02em; color: ACCENT; }}
.motto {{ font-style: italic; opacity: .75; margin: .2rem 0 1rem; }}
nav a {{ color: inherit; margin: 0 .6rem; text-decoration: none; font-size: .85rem;
  text-transform: uppercase; letter-spacing: .08em; }}
h1 {{ font-size: 2.1rem; line-height: 1.2; margin: 2rem 0 .3rem; }}
h2 {{ font-size: 1.25rem; margin: 2rem 0 .4rem; color: ACCENT; }}
.byline {{ font-style: italic; opacity: .7; margin-bottom: 1.6rem; }}
article:is(:lang(en), :lang(de), :lang(fr)) > p:first-of-type::first-letter {{ float: left;
  font-size: 3.4rem; line-height: .9; padding: .1rem .5rem 0 0; color: ACCENT; }}
blockquote {{ margin: 1.5rem 2rem; padding-left: 1rem; border-left: 3px solid ACCENT;
  font-style: italic; }}
article a {{ color: ACCENT; }}
footer {{ margin-top: 2.5rem; border-top: 1px solid TINT; padding-top: 1rem; font-size: .82rem;
  opacity: .8; }}
footer p {{ margin: .2rem 0; }}
"""

_JOURNAL = f"""
* {{ box-sizing: border-box; }}
body {{ margin: 0; background: PAPER; color: INK; font: 17px/1.6 {_SANS}; }}
header {{ background: ACCENT; color: #fff; padding: 2.4rem 8vw 0; }}
.name {{ font-size: 1.7rem; font-weight: 700; }}
.motto {{ opacity: .85; margin-bottom: 1.4rem; }}
nav {{ display: flex; gap: .3rem; flex-wrap: wrap; }}
nav a {{ color: #fff; text-decoration: none; padding: .55rem 1rem; background: rgba(0,0,0,.18);
  border-radius: 6px 6px 0 0; font-size: .9rem; }}
nav a:first-child {{ background: PAPER; color: ACCENT; }}
article {{ max-width: 46rem; margin: 0 8vw; padding: 1.6rem 0 1rem; }}
h1 {{ font-size: 2.2rem; line-height: 1.15; margin: 1rem 0 .4rem; }}
h2 {{ font-size: 1.2rem; margin: 2rem 0 .4rem; padding-bottom: .2rem;
  border-bottom: 2px solid TINT; }}
.byline {{ display: inline-block; background: TINT; padding: .2rem .7rem; border-radius: 99px;
  font-size: .85rem; }}
blockquote {{ margin: 1.4rem 0; padding: 1rem 1.4rem; background: TINT; border-radius: 10px;
  font-size: 1.08rem; }}
article a {{ color: ACCENT; }}
li {{ margin: .3rem 0; }}
footer {{ background: TINT; padding: 1.6rem 8vw; font-size: .85rem; margin-top: 2rem; }}
footer p {{ margin: .25rem 0; }}
"""

_HANDBOOK = f"""
body {{ margin: 0; color: INK; background: PAPER; font: 16px/1.62 {_SANS}; display: grid;
  grid-template-columns: 15rem 1fr; min-height: 100vh; }}
aside {{ background: BACK; border-inline-end: 1px solid TINT; padding: 2rem 1.4rem; }}
.name {{ font-weight: 700; font-size: 1.15rem; color: ACCENT; line-height: 1.3; }}
.motto {{ font-size: .85rem; opacity: .75; margin: .5rem 0 1.5rem; }}
nav ul {{ list-style: none; margin: 0; padding: 0; }}
nav li {{ margin: .1rem 0; }}
nav a {{ display: block; padding: .35rem .7rem; border-radius: 5px; color: inherit;
  text-decoration: none; }}
nav li:nth-child(2) a {{ background: TINT; color: ACCENT; font-weight: 600; }}
.content {{ padding: 2rem 3.5rem; max-width: 46rem; }}
h1 {{ font-size: 2rem; line-height: 1.2; margin: 0 0 .3rem; }}
h2 {{ font-size: 1.25rem; margin-top: 2rem; }}
.byline {{ color: ACCENT; font-size: .9rem; margin-bottom: 1.5rem; }}
blockquote {{ margin: 1.4rem 0; padding: .8rem 1.2rem; border-inline-start: 4px solid ACCENT;
  background: BACK; }}
.content a {{ color: ACCENT; }}
footer {{ margin-top: 3rem; font-size: .8rem; opacity: .75; border-top: 1px solid TINT;
  padding-top: .8rem; }}
footer p {{ margin: .2rem 0; }}
"""

_STYLES = (_BROADSHEET, _JOURNAL, _HANDBOOK)

# A mark for the site's corner, without words in it.
_ORNAMENT = (
    '<svg width="44" height="44" viewBox="0 0 44 44" aria-hidden="true">'
    '<circle cx="22" cy="22" r="20" fill="none" stroke="currentColor" stroke-width="2"/>'
    '<path d="{path}" fill="none" stroke="currentColor" stroke-width="2.4" '
    'stroke-linecap="round"/></svg>'
)
_ORNAMENT_PATHS = (
    "M22 36V14M22 22c-7 0-9-5-9-9 6 0 9 3 9 9zM22 26c6 0 9-4 9-9-6 0-9 4-9 9z",
    "M8 26c4-5 8-5 12 0s8 5 12 0M10 32c4-5 8-5 12 0s8 5 12 0M22 8v12",
    "M10 30L18 16l5 8 4-6 8 12z",
    "M22 8l4 9 10 1-8 6 3 10-9-6-9 6 3-10-8-6 10-1z",
)


def style_sheet(design: int, palette: int) -> str:
    """The style sheet of a design in a site's colours."""
    sheet = _STYLES[design]
    for name, colour in zip(
        ("BACK", "PAPER", "INK", "ACCENT", "TINT"), PALETTES[palette], strict=True
    ):
        sheet = sheet.replace(name, colour)
    return sheet


def ornament(number: int) -> str:
    """A small drawing for a site's corner."""
    return _ORNAMENT.format(path=_ORNAMENT_PATHS[number % len(_ORNAMENT_PATHS)])
