"""Documents that would do something in a reader's browser if a page let them be more than text.

Whatever of them runs sets the same mark, `data-attacked`, on the page; the rest asks another
machine for something, or hides the page. All of them share most of their words.
"""

_ATTACK = "document.documentElement.dataset.attacked = 1"
_WORDS = " ".join(f"word{number}" for number in range(80))

# id -> content
HOSTILE = {
    f"javascript:{_ATTACK}": f"<script>{_ATTACK}</script><p>{_WORDS} one</p>",
    'https://evil.example/"onmouseover="x': (
        f'<img src=x onerror="{_ATTACK}">{_WORDS} two</title></textarea></script>'
    ),
    "data:text/html,<script>1</script>": (
        f"<svg onload='{_ATTACK}'><a href='javascript:{_ATTACK}'>{_WORDS} three</a></svg>"
    ),
    "https://evil.example/<img src=x>": (
        "<html><iframe src='https://evil.example/'></iframe><style>*{display:none}</style>"
        f"<link rel=stylesheet href=https://evil.example/x.css>{_WORDS} four"
    ),
}
