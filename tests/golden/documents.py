"""The documents of the golden vectors: original sentences in many scripts, and hostile bytes.

A name is the name of a file here; what a document is meant to catch stands beside it. Code
points that an editor hides or rewrites are written as escapes.
"""

from tests.reference.token import ContentType

TEXTS: dict[str, str] = {
    # Plain ASCII, longer than any SIMD block, with repeated shingles.
    "ascii": (
        "The lighthouse keeper counted the ships before supper. Twelve ships went north, and 12 "
        "ships came home; the lighthouse keeper counted the ships before supper every day of "
        "1997, and wrote the number down.\r\n\tOn the last page he wrote: no ships, no fog, no "
        "supper. Somebody_else found the book in room B-204, next to 3.14 kilos of dry bread, "
        "and the lighthouse keeper counted the ships before supper no more."
    ),
    # Accents composed and decomposed, ligatures, sharp s, dotted and dotless i, soft hyphen.
    "latin": (
        "Le vieux FI\u00c9VREUX c\u0153ur de l\u2019\u00eele bat plus fort l\u2019\u00e9t\u00e9. "
        "Die Stra\u00dfe zur Gro\u00dfmutter hei\u00dft STRASSE, auf alten Schildern "
        "STRA\u1e9eE. \u0130zmir\u2019de \u0131l\u0131k bir ak\u015fam. Pi\u00f9 caff\u00e8, "
        "per favore: \ufb01nocchi, \ufb02an, o\ufb03ce. Za\u017c\u00f3\u0142\u0107 "
        "g\u0119\u015bl\u0105 ja\u017a\u0144. e\u0301te\u0301 est un \u00e9t\u00e9, "
        "A\u030angstro\u0308m un \u212bngstr\u00f6m. un\u00adbe\u00adlie\u00adva\u00adble "
        "\u00bd litre, x\u00b2 \u2460 \u2122 \uff26\uff35\uff2c\uff2c \U0001d400lpha "
        "\u00deorl\u00e1kur \u00e6tlar a\u00f0 sofa"
    ),
    # Final sigma, tonos, ypogegrammeni in three spellings, upper case.
    "greek": (
        "\u039f \u03c6\u03cd\u03bb\u03b1\u03ba\u03b1\u03c2 \u03c4\u03bf\u03c5 "
        "\u03c6\u03ac\u03c1\u03bf\u03c5 \u03bc\u03b5\u03c4\u03c1\u03bf\u03cd\u03c3\u03b5 "
        "\u03c4\u03b1 \u03ba\u03b1\u03c1\u03ac\u03b2\u03b9\u03b1. \u039f \u03a6\u03a5\u039b"
        "\u0391\u039a\u0391\u03a3 \u03a4\u039f\u03a5 \u03a6\u0391\u03a1\u039f\u03a5 "
        "\u03bc\u03b5\u03c4\u03c1\u03bf\u1fe6\u03c3\u03b5 \u03c4\u1f70 "
        "\u03ba\u03b1\u03c1\u03ac\u03b2\u03b9\u03b1: \u1fb3 \u1fbc \u03b1\u0345 "
        "\u1f80\u03b4\u03ae, \u2126 \u03bc\u00b5 \u03d0\u03ac\u03c1\u03ba\u03b1 "
        "\u03ad\u03bd\u03b1 \u03b4\u03cd\u03bf \u03c4\u03c1\u03af\u03b1"
    ),
    "cyrillic": (
        "Смотритель маяка считал корабли до ужина. СМОТРИТЕЛЬ МАЯКА СЧИТАЛ КОРАБЛИ до ужина, "
        "и\u0306 ещё ё\u0308жик: йод, Її, Ґанок, Ђорђе, ўсё. В 1997-м году кораблей было "
        "двенадцать; никто не знал, почему."
    ),
    # Vowel points, tatweel (a letter), presentation forms, Arabic digits, one code point of
    # four words.
    "arabic": (
        "عَدَّ حارِسُ المَنارةِ السُّفُنَ قبل العشاء. عد حارس المنارة السفن قبل العـــشاء، "
        "وكتب ١٢ سفينة. \ufefb \ufdfa \ufe8d\ufedf\u200c\ufee3\u200d كتب الرقم في دفتره ثم "
        "نام حتى الصباح"
    ),
    "hebrew": (
        "שׁוֹמֵר הַמִּגְדַּלּוֹר סָפַר אֶת הָאֳנִיּוֹת. שומר המגדלור ספר את האוניות לפני "
        "ארוחת הערב, וכתב שתים־עשרה. \ufb2a\ufb49 \ufb4f \u05f0 סוף"
    ),
    # Viramas and nuktas go, vowel signs stay; joiners are transparent.
    "devanagari": (
        "प्रकाशस्तंभ का रखवाला रात के खाने से पहले जहाज़ गिनता था। बारह जहाज़ उत्तर गए, १२ लौटे; "
        "क्\u200dष क्\u200cष क्ष \u0958\u0959 क़ख़ ॐ रखवाला सो गया।"
    ),
    # Every ideograph is a token; compatibility and astral ideographs, zero (a number letter).
    "han": (
        "灯塔看守人在晚饭前数船。十二艘船向北，12艘船回来。守塔人把数字写在第\u2f00页，"
        "二\u3007二三年。\uf900\ufa0e\U00020000\U0002f800 人々 卐 燈塔看守人在晚飯前數船"
    ),
    # Voiced kana composed, decomposed and half-width; the long vowel mark is no kana by script.
    "kana": (
        "ともしびのばんにんは、ゆうごはんのまえにふねをかぞえた。がか\u3099ガカ\u3099"
        "\uff76\uff9e ラーメンとコーヒー、\u32d0\u3300 東京タワーは333メートル。ゞ ヾ ゟ"
    ),
    # Dependent vowels below and tone marks go, the others are tokens.
    "thai": (
        "ผู้เฝ้าประภาคารนับเรือก่อนอาหารเย็น น้ำทะเลสงบ ๑๒ ลำ ກະປຸກ ນ້ຳ ຂ້ອຍ ភ្នំពេញ ក្រុង မြန်မာ ဘာသာ test123ไทย"
    ),
    # Syllables, conjoining jamo and compatibility jamo of the same words.
    "korean": (
        "등대지기는 저녁을 먹기 전에 배를 세었다. 열두 척이 북쪽으로 갔고 12척이 돌아왔다. "
        "\u1112\u1161\u11ab\u1100\u1173\u11af 한글 \u3131\u314f \uffa1 \u3260 \u3200 "
        "등대지기는 잠들었다."
    ),
    # Scripts meet without a space between them, emoji, keycaps, variation selectors, tags.
    "mixed": (
        "\ufeffPython3は楽しいですね! C++と漢字mixedテキスト, Москва2024год, "
        "caf\u00e9\u200bth\u00e9 na\u00efve\u2014na\u0131\u0308ve 1\ufe0f\u20e3 "
        "\U0001f469\u200d\U0001f680\U0001f3fd e\u0301\u0301\u0301 \u0661\u0662\u0663 "
        "\U0001d7d8\U0001d7d9 \ua7f8 \U00016f00 \u0345x \u00b7middle\u00b7dot\u00b7 "
        "a\u0000b tel:+49-30-123456 \U000e0041hidden\U000e007f <b>not html</b> &amp; end"
    ),
    # Fewer tokens than most widths: one shingle.
    "short": "Two  WORDS.",
    # One token of many seven-byte chunks.
    "long_token": "x" * 6 + " " + "y" * 7 + " " + "z" * 8 + " " + "Donau" * 40,
    "empty": "",
    # Bytes, but no token.
    "blank": " \u00ad\t\u2014\u200b \n",
}

BYTES: dict[str, bytes] = {
    # Overlong forms, surrogates, out of range, lone continuation, truncated at every length.
    "ill_formed": (
        b"one\xc0\xaftwo \xe0\x80\x80three \xed\xa0\x80four \xf4\x90\x80\x80five \x80six "
        b"\xc3seven \xe1\x80eight \xf0\x90\x80nine \xf8\x88\x80\x80\x80ten \xfe\xffeleven "
        b"caf\xe9 latin\xf1one \xe2\x82\xac \xf0\x9f\x98\x80 end\xf0\x9f\x98"
    ),
}

HTML: dict[str, str] = {
    "html_page": (
        "<!DOCTYPE html>\n<html><head><title>Ships &amp; fog</title><style>p { color: red }"
        "</style>\n<script>var hidden = '</p>';</script></head><body class='a>b'>"
        "<!-- nobody reads this --><h1>The light<b>house</b></h1><p>Twelve ships went "
        "n<i>or</i>th,<br>12 came home.</p><ul><li>no fog<li>no supper</ul>"
        "<p>caf&eacute; &notit; &#x2014; &#150; &copy2007 &#0; &bogus; A&T"
        "<table><tr><td>one<td>two</table><template>hidden too</template>"
        '<svg><title>drawn</title><style>x</style></svg><a href="/x" title=never>a link</a> end'
    ),
    "html_fragment": (
        "  <p>Le c\u0153ur de l&rsquo;&icirc;le<sup>2</sup> bat<wbr>tait.<p>Fin &lt;b&gt; < 3 "
        "</p x='>'>apr\u00e8s</> tout<!-- > --> <textarea><i>raw</i> &amp;</textarea> bye"
    ),
}


def documents() -> dict[str, tuple[bytes, ContentType]]:
    """Every document with the content type it is read as."""
    found: dict[str, tuple[bytes, ContentType]] = {}
    for name, text in TEXTS.items():
        found[name] = (text.encode(), "text")
    for name, data in BYTES.items():
        found[name] = (data, "text")
    for name, text in HTML.items():
        found[name] = (text.encode(), "html")
    return found
