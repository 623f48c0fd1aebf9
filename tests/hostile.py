"""Documents that would do something in a reader's browser if a page let them be more than text."""

# Stored pages that would do something if a page of ours let them. Each sets the same mark.
_ATTACK = "document.documentElement.dataset.attacked = 1"
HOSTILE = {
    f"javascript:{_ATTACK}": f"<script>{_ATTACK}</script><p>one two three four five six seven",
    'https://evil.example/"onmouseover="x': (
        f'<img src=x onerror="{_ATTACK}"> one two three four five six eight </title></textarea>'
    ),
    "data:text/html,<script>1</script>": (
        f"<svg onload='{_ATTACK}'><a href='javascript:{_ATTACK}'>one two three four five six nine"
        "</a></svg>"
    ),
    "https://evil.example/<img src=x>": (
        "<iframe src='https://evil.example/'></iframe><style>*{display:none}</style>"
        "<link rel=stylesheet href=https://evil.example/x.css> one two three four five six ten"
    ),
}
