"""Redirect rules: by hand, as the manuals of the three servers want them. What
nginx and Apache make of hostile ones is asked in test_redirect_servers.py."""

from roughly.corpus.redirect import redirect_rules

A = "https://a.example"


def rules(server: str, *moves: tuple[str, str], alive: tuple[str, ...] = ()) -> list[str]:
    text = redirect_rules(moves, server, alive).text  # type: ignore[arg-type]
    assert text == "" or text.endswith("\n")
    return text.splitlines()


def test_nothing() -> None:
    for server in ("nginx", "apache", "netlify"):
        assert rules(server) == rules(server, ("docs/a.txt", "docs/b.txt")) == []


def test_nginx() -> None:
    assert rules(
        "nginx",
        (f"{A}/b c", f"{A}/d e"),
        (f"{A}/x", "https://b.example/y"),
        (f"{A}/%22q%22$1", f"{A}/$host"),
    ) == [
        "# a.example",
        r'location = "/\"q\"$1" { return 301 "/%24host"; }',
        'location = "/b c" { return 301 "/d%20e"; }',
        'location = "/x" { return 301 "https://b.example/y"; }',
    ]


def test_nginx_leaves_other_pages_of_a_path_alone() -> None:
    assert rules("nginx", (f"{A}/v?id=3", f"{A}/three"), (f"{A}/v", f"{A}/none")) == [
        "# a.example",
        r'if ($request_uri ~ "^/v\\??$") { return 301 "/none"; }',
        r'if ($request_uri ~ "^/v\\?id=3$") { return 301 "/three"; }',
    ]
    assert rules("nginx", (f"{A}/v", f"{A}/w"), alive=(f"{A}/v?id=4",)) == [
        "# a.example",
        r'if ($request_uri ~ "^/v\\??$") { return 301 "/w"; }',
    ]


def test_apache() -> None:
    assert rules("apache", (f"{A}/a.b+c", f"{A}/d"), ("http://b.example/x", f"{A}/y")) == [
        "# a.example",
        r'RedirectMatch 301 "^/a\\.b\\+c$" "/d"',
        "# b.example",
        'RedirectMatch 301 "^/x$" "https://a.example/y"',
    ]
    assert rules("apache", (f"{A}/v.php?id=3", f"{A}/a%20b")) == [
        "# a.example",
        "RewriteEngine On",
        'RewriteCond %{QUERY_STRING} "^id=3$"',
        r'RewriteRule "^/?v\.php$" "/a\%20b?" [R=301,L,NE]',
    ]


def test_netlify() -> None:
    assert rules(
        "netlify",
        (f"{A}/a b", f"{A}/c"),
        (f"{A}/all/*", f"{A}/d"),
        (f"{A}/:name", f"{A}/e"),
        (f"{A}/v?id=3&x", f"{A}/three"),
    ) == [
        "# a.example",
        "/%3Aname /e 301",
        "/a%20b /c 301",
        "/all/%2A /d 301",
        "/v id=3 x= /three 301",
    ]


def test_what_has_no_rule_is_counted() -> None:
    found = redirect_rules(
        [
            ("docs/a.txt", "docs/b.txt"),
            (f"{A}/x", f"{A}/y"),
            (f"{A}/%78", f"{A}/z"),
            ("http://a.example/same", f"{A}/same"),
        ],
        "netlify",
    )
    assert found.text == "# a.example\n/x /y 301\n"
    assert (found.count, found.no_urls, found.repeated, found.same) == (1, 1, 1, 1)


def test_apache_does_not_encode_twice() -> None:
    assert rules("apache", (f"{A}/x", f"{A}/ü")) == [
        "# a.example",
        "RewriteEngine On",
        r'RewriteRule "^/?x$" "/\%C3\%BC" [R=301,L,NE]',
    ]


def test_paths_that_only_the_request_tells() -> None:
    moves = ((f"{A}/%F1", f"{A}/n"), (f"{A}/a%2Fb", f"{A}/c"))
    assert rules("nginx", *moves) == [
        "# a.example",
        r'if ($request_uri ~ "^/%[Ff]1(\\?|$)") { return 301 "/n"; }',
        r'if ($request_uri ~ "^/a%2[Ff]b(\\?|$)") { return 301 "/c"; }',
    ]
    assert rules("apache", *moves) == [
        "# a.example",
        "RewriteEngine On",
        r'RewriteCond %{THE_REQUEST} "^\S+ /%[Ff]1(\?\S*)? "',
        'RewriteRule "^" "/n" [R=301,L,NE]',
        "# this one needs AllowEncodedSlashes NoDecode",
        r'RewriteCond %{THE_REQUEST} "^\S+ /a%2[Ff]b(\?\S*)? "',
        'RewriteRule "^" "/c" [R=301,L,NE]',
    ]


def test_one_rule_for_one_address() -> None:
    """nginx refuses a file with two locations of one path."""
    assert rules("nginx", (f"{A}/x", f"{A}/y"), (f"{A}/%78#top", f"{A}/z")) == [
        "# a.example",
        'location = "/x" { return 301 "/y"; }',
    ]


def test_no_rule_leads_to_itself() -> None:
    assert rules("nginx", ("http://a.example/x?y=1", "https://a.example/x?y=1")) == []
    assert rules("netlify", ("http://www.a.example/x", "http://a.example/x")) == [
        "# www.a.example",
        "/x http://a.example/x 301",
    ]


def test_a_host_that_only_changed_its_scheme_is_the_same() -> None:
    assert rules("nginx", ("http://a.example/x", "https://a.example/y")) == [
        "# a.example",
        'location = "/x" { return 301 "/y"; }',
    ]
