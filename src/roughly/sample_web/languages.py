"""Seven small grammars besides English: German, French, Russian, Greek, Japanese, Arabic, Hindi.

All share the same lists: who (a subject in the singular), of (what qualifies it), does (a predicate
in the present; in verb-second and verb-first languages `verb|rest`), when, where, why (a clause)
and remark (a saying that can stand alone). Choosing subjects and tenses that need no agreement
keeps every combination grammatical.
"""

from roughly.sample_web.prose import Language, alternatives


def _entries(column: str) -> tuple[str, ...]:
    return tuple(" ".join(entry.split()) for entry in column.split(" / "))


def _language(
    code: str,
    *,
    lists: dict[str, str],
    sentences: str,
    titles: str,
    headings: str,
    points: str,
    quotations: str,
    byline: str,
    navigation: str,
    notices: str,
    sites: str,
    places: str,
    slug: str,
    direction: str = "ltr",
    joiner: str = " ",
) -> Language:
    columns = {name: _entries(column) for name, column in lists.items()}
    pairs = [entry.split(" = ") for entry in _entries(sites)]
    towns = [entry.split(" = ") for entry in _entries(places)]
    return Language(
        code=code,
        direction=direction,
        joiner=joiner,
        lists=columns,
        sentences=_entries(sentences),
        titles=_entries(titles),
        headings=_entries(headings),
        points=_entries(points),
        quotations=_entries(quotations),
        byline=byline,
        navigation=_entries(navigation),
        notices=_entries(notices),
        site_names=tuple((name, host) for name, host in pairs),
        places=tuple((name, host) for name, host in towns),
        slug=slug,
        # Without spaces the last word of an entry is a single character: nothing to exchange.
        alternates=alternatives(columns) if joiner else {},
    )


GERMAN = _language(
    "de",
    lists={
        "who": "der Gärtner / die Müllerin / der Buchbinder / die Lehrerin / der Fährmann / die "
        "Imkerin / der Uhrmacher / die Wirtin / der Schäfer / die Bäckerin / der Türmer / die "
        "Nachbarin / der Förster / die Weberin / der Briefträger / die Orgelbauerin",
        "of": "aus dem Nachbardorf / mit dem grünen Hut / vom oberen Tor / mit den zwei Hunden "
        "/ aus der Mühlengasse / vom Fluss / mit der leisen Stimme / aus der alten Schule / vom "
        "Marktplatz / mit dem roten Schal / aus dem Tal / von der Fähre / mit dem krummen Stock",
        "does": "öffnet|das schmale Tor / zählt|die reifen Birnen / schreibt|einen langen Brief "
        "/ repariert|die Turmuhr / trägt|zwei Eimer Wasser / backt|ein dunkles Brot / liest|die "
        "alte Karte / sucht|den entlaufenen Hund / streicht|den langen Zaun / stimmt|das "
        "Klavier im Saal / bindet|drei Bücher neu / erzählt|eine Geschichte vom Hochwasser / "
        "pflanzt|einen Quittenbaum / verkauft|den letzten Honig / zeichnet|den Weg zum See / "
        "putzt|die Fenster der Kapelle / sammelt|Walnüsse für den Winter / kocht|eine Suppe für "
        "alle",
        "when": "am frühen Morgen / im späten Herbst / nach dem ersten Frost / jeden zweiten "
        "Sonntag / kurz vor Mittag / in der Erntezeit / bei leichtem Regen / seit dem letzten "
        "Sommer / an stillen Abenden / vor dem großen Fest / Ende März / um halb sieben / in "
        "manchen Nächten",
        "where": "hinter der Kirche / am Ufer / im Hof der Brauerei / neben der Bücherei / "
        "unter den Linden / auf der Brücke / im Gemeindehaus / vor dem Bahnhof / im Weinberg / "
        "an der Stadtmauer / auf dem Speicher / beim Brunnen / in der Werkstatt",
        "why": "weil der Wind gedreht hat / obwohl niemand darum gebeten hat / damit die Kinder "
        "etwas lernen / bevor die Gäste kommen / während das Wasser steigt / sobald die Glocke "
        "läutet / weil es immer so war / solange das Licht reicht / wenn der Zug Verspätung hat "
        "/ nachdem der Markt geschlossen ist / ohne dass es jemand merkt / weil der Winter lang "
        "wird / als hätte der Tag kein Ende",
        "remark": "Geduld ist billiger als Werkzeug / ein guter Plan passt auf eine Postkarte / "
        "wer langsam geht, sieht mehr / alte Schlüssel öffnen neue Türen / kein Apfel fällt "
        "zweimal / Ordnung beginnt im Schuppen / Nebel verrät den Fluss / der erste Versuch "
        "gehört der Katze / jede Uhr lügt ein wenig / Brot schmeckt am besten geteilt / Wege "
        "entstehen beim Gehen / ein leerer Korb ist auch eine Nachricht",
        "mood": "still / kühl / hell / laut / feierlich / dunstig / warm / leer / lebhaft / klar",
    },
    sentences="{when^} {does<} {who} {of} {does>}. / {who^} {of} {does<} {where} {does>}, "
    "{why}. / {where^} {does<} {who} {does>}, und {who} {of} {does<} {does>}. / {who^} {of} "
    "sagt: {remark}. / Wer {when} {where} wartet, sieht oft, wie {who} {of} vorbeigeht. / "
    "{who^} und {who} treffen sich {when} {where}, {why}. / Im Ort heißt es, {remark}; {who} "
    "{of} lächelt nur. / {when^} ist es {where} {mood}, und {who} {does<} {does>}. / Man "
    "erzählt, dass {who} {of} {when} {where} gewartet hat. / {remark^}, meint {who} {of}, "
    "{why}. / {why^}, {does<} {who} {when} {does>}. / Nur {who} {of} weiß, warum es {where} so "
    "{mood} ist.",
    titles="{who^} {of} / Ein Tag {where} / Was {who} {of} weiß / {when^} {where} / {remark^} / "
    "Wie {who} lernt, {where} zu warten",
    headings="{where^} / {when^} / {who^} {where} / {remark^}",
    points="{remark^}. / {who^} {where}, {when}. / {when^}: {mood} und {mood}.",
    quotations="{remark^}, und {remark}. / {when^} glaube ich: {remark}.",
    byline="Aufgezeichnet hat es {who} {of}",
    navigation="Startseite / Aktuelles / Archiv / Bilder / Kontakt",
    notices="Alle Texte dürfen mit Angabe der Quelle weitergegeben werden. / Wir freuen uns "
    "über Hinweise, Korrekturen und alte Fotografien.",
    sites="Heimatblätter {place} = heimatblaetter-{place}.example / Verein der Gartenfreunde "
    "{place} = gartenfreunde-{place}.example / Stadtbücherei {place} = buecherei.{place}.example",
    places="Elmstadt = elmstadt / Birkenau am See = birkenau-see / Oberlinden = oberlinden / "
    "Kaltenbrunn = kaltenbrunn / Mühlhagen = muehlhagen / Rabenfurt = rabenfurt",
    slug="blatt",
)

FRENCH = _language(
    "fr",
    lists={
        "who": "le jardinier / la meunière / le relieur / la maîtresse / le passeur / le "
        "gardien du phare / le boulanger / la voisine / le berger / la tisserande / le facteur "
        "/ le bibliothécaire / la marchande de miel / le sonneur de cloches",
        "of": "du village voisin / au chapeau vert / de la rue haute / avec ses deux chiens / "
        "de la vieille école / à la voix douce / du bord du fleuve / au foulard rouge / du "
        "marché / de la vallée / du dernier moulin / aux mains pleines de farine",
        "does": "ouvre la petite porte / compte les poires mûres / écrit une longue lettre / "
        "répare la pendule / porte deux seaux remplis / prépare un pain noir / lit la vieille "
        "carte / cherche le chien perdu / repeint la barrière / accorde le piano de la salle / "
        "raconte la crue de mars / plante un cognassier / vend le dernier miel / dessine le "
        "chemin du lac / nettoie les vitraux / ramasse des noix / partage une soupe chaude / "
        "recopie le registre",
        "when": "de bon matin / à la fin de la saison / après la première gelée / un dimanche "
        "sur deux / peu avant midi / pendant la récolte / sous une pluie fine / depuis le "
        "printemps dernier / certains soirs / avant la grande fête / vers la mi-mars / vers six "
        "heures",
        "where": "derrière la chapelle / sur la rive / dans la cour de la brasserie / près de "
        "la bibliothèque / sous les tilleuls / sur le vieux pont / dans la salle commune / "
        "devant la gare / dans les vignes / contre le mur du sud / au grenier / près de la "
        "fontaine",
        "why": "parce que le vent a tourné / sans que personne le demande / pour que les "
        "enfants apprennent / avant que les invités arrivent / tandis que la rivière monte / "
        "dès que la cloche sonne / parce que la règle le veut / tant que la lumière suffit / "
        "quand le train prend du retard / puisque le marché est fermé / comme si le temps ne "
        "comptait pas / car la nuit sera longue",
        "remark": "la patience coûte moins que les outils / un bon plan tient sur une carte "
        "postale / marcher lentement permet de mieux voir / les vieilles clés ouvrent des "
        "portes neuves / aucune pomme ne tombe deux fois / le brouillard trahit le fleuve / "
        "chaque montre ment un peu / le pain partagé reste le meilleur / les chemins naissent "
        "sous les pas / un panier vide est aussi une nouvelle / le premier essai revient au chat",
        "mood": "calme / clair / bruyant / solennel / brumeux / doux / vide / joyeux / froid / "
        "tranquille",
    },
    sentences="{when^}, {who} {of} {does}. / {who^} {of} {does} {where}, {why}. / {where^}, "
    "{who} {does} et {who} {of} {does}. / {who^} {of} le répète : {remark}. / Si vous passez "
    "{where} {when}, vous verrez peut-être {who} {of}. / {who^} et {who} se retrouvent {when} "
    "{where}, {why}. / On le dit ici : {remark} ; {who} {of} sourit. / {when^}, tout est {mood} "
    "{where}, et {who} {does}. / {remark^}, pense {who} {of}, {why}. / Rien de plus {mood} que "
    "ce moment où {who} {of} {does}. / {why^}, {who} {does} {where}. / Seuls {who} et {who} "
    "savent pourquoi {remark}.",
    titles="{who^} {of} / Une journée {where} / Ce que sait {who} {of} / {when^}, {where} / "
    "{remark^}",
    headings="{where^} / {when^} / {who^}, {where} / {remark^}",
    points="{remark^}. / {who^}, {where}, {when}. / {when^} : {mood} ou {mood}.",
    quotations="{remark^}, et {remark}. / {when^}, je me le redis : {remark}.",
    byline="Un texte confié par {who} {of}",
    navigation="Accueil / Nouvelles / Archives / Photographies / Nous écrire",
    notices="Les textes peuvent circuler librement si leur source est citée. / Vos corrections "
    "et vos souvenirs sont les bienvenus.",
    sites="Les cahiers de {place} = cahiers-{place}.example / La gazette de {place} = "
    "gazette.{place}.example / Bibliothèque de {place} = bibliotheque-{place}.example",
    places="Montclair sur Lys = montclair / Valbrune = valbrune / Pontferrand = pontferrand / "
    "Saint Orens = saint-orens / Rochelune = rochelune",
    slug="feuillet",
)

RUSSIAN = _language(
    "ru",
    lists={
        "who": "садовник / мельник / учительница / пасечник / часовщик / пекарь / лодочник / "
        "соседка / лесник / библиотекарь / пастух / ткачиха / сторож / художник / почтальон",
        "of": "из соседней деревни / с зелёной сумкой / с верхней улицы / с двумя собаками / из "
        "старой школы / с тихим голосом / с того берега / в красном шарфе / с рыночной площади "
        "/ из долины / с последней мельницы / с фонарём в руке",
        "does": "открывает узкую калитку / считает спелые груши / пишет длинное письмо / чинит "
        "башенные часы / несёт два ведра воды / печёт тёмный хлеб / читает старую карту / ищет "
        "пропавшую собаку / красит длинный забор / настраивает рояль в зале / рассказывает о "
        "весеннем паводке / сажает яблоню / продаёт последний мёд / рисует дорогу к озеру / "
        "моет окна часовни / собирает орехи на зиму / варит суп на всех / переписывает тетрадь",
        "when": "ранним утром / поздней осенью / после первых заморозков / каждое второе "
        "воскресенье / незадолго до полудня / во время жатвы / под мелким дождём / с прошлого "
        "лета / тихими вечерами / накануне праздника / в конце марта / в половине седьмого",
        "where": "за церковью / на берегу / во дворе старой фабрики / возле библиотеки / под "
        "липами / на мосту / в общем доме / перед вокзалом / в саду / у городской стены / на "
        "чердаке / у колодца",
        "why": "потому что ветер переменился / хотя никто об этом не просил / чтобы дети "
        "учились / пока не приехали гости / когда поднимается вода / как только звонит колокол "
        "/ потому что так было всегда / пока хватает света / если поезд опаздывает / когда "
        "рынок закрыт / словно времени сколько угодно / раз зима будет долгой",
        "remark": "терпение дешевле инструмента / хороший план помещается на открытке / кто "
        "идёт медленно, тот больше видит / старые ключи открывают новые двери / ни одно яблоко "
        "не падает дважды / туман выдаёт реку / любые часы немного врут / хлеб вкуснее, когда "
        "его делят / дорога рождается под ногами / пустая корзина тоже известие / порядок "
        "начинается в сарае",
        "mood": "тихо / светло / шумно / прохладно / торжественно / пусто / тепло / весело / "
        "туманно / спокойно",
    },
    sentences="{when^} {who} {of} {does}. / {who^} {of} {does} {where}, {why}. / {where^} {who} "
    "{does}, а {who} {of} {does}. / {who^} {of} повторяет: {remark}. / Если {when} оказаться "
    "{where}, можно встретить такого человека, как {who} {of}. / {who^} и {who} встречаются "
    "{when} {where}, {why}. / Здесь говорят, что {remark}; {who} {of} только улыбается. / "
    "{when^} {where} {mood}, и {who} {does}. / {remark^}, думает {who} {of}, {why}. / Почему "
    "{where} так {mood}, знает только {who} {of}. / {why^}, {who} {when} {does}. / Бывает "
    "{mood} и бывает {mood}, но {who} {of} {does}.",
    titles="{who^} {of} / Один день {where} / Что знает {who} {of} / {when^} {where} / {remark^}",
    headings="{where^} / {when^} / {who^} {where} / {remark^}",
    points="{remark^}. / {who^} {where}, {when}. / {when^}: {mood} и {mood}.",
    quotations="{remark^}, и {remark}. / {when^} я думаю: {remark}.",
    byline="Рассказывает {who} {of}",
    navigation="Главная / Новости / Архив / Снимки / Написать нам",
    notices="Тексты можно передавать дальше, если указан источник. / Мы рады поправкам, письмам "
    "и старым фотографиям.",
    sites="Тетради города {place} = tetradi-{place}.example / Вестник {place} = "
    "vestnik.{place}.example",
    places="Липовск = lipovsk / Речное = rechnoe / Зареченск = zarechensk / Медовка = medovka / "
    "Ясногорье = yasnogorye",
    slug="zametka",
)

GREEK = _language(
    "el",
    lists={
        "who": "ο κηπουρός / η δασκάλα / ο μυλωνάς / ο μελισσοκόμος / ο βιβλιοδέτης / η "
        "γειτόνισσα / ο ψαράς / ο φούρναρης / η υφάντρα / ο βοσκός / ο ρολογάς / ο φαροφύλακας "
        "/ ο ταχυδρόμος / η ζωγράφος",
        "of": "από το διπλανό χωριό / με το πράσινο καπέλο / από τον πάνω δρόμο / με τα δύο "
        "σκυλιά / από το παλιό σχολείο / με τη σιγανή φωνή / από την άλλη όχθη / με το κόκκινο "
        "μαντίλι / από την αγορά / από την κοιλάδα / με τα αλευρωμένα χέρια",
        "does": "ανοίγει τη στενή πόρτα / μετράει τα ώριμα αχλάδια / γράφει ένα μακρύ γράμμα / "
        "διορθώνει το ρολόι του πύργου / κουβαλάει δύο κουβάδες νερό / ζυμώνει μαύρο ψωμί / "
        "διαβάζει τον παλιό χάρτη / ψάχνει το χαμένο σκυλί / βάφει τον φράχτη / κουρδίζει το "
        "πιάνο / διηγείται την πλημμύρα του Μάρτη / φυτεύει μια κυδωνιά / πουλάει το τελευταίο "
        "μέλι / σχεδιάζει τον δρόμο για τη λίμνη / καθαρίζει τα τζάμια / μαζεύει καρύδια / "
        "μοιράζει ζεστή σούπα",
        "when": "νωρίς το πρωί / στο τέλος του φθινοπώρου / μετά τον πρώτο παγετό / κάθε "
        "δεύτερη Κυριακή / λίγο πριν το μεσημέρι / την εποχή της συγκομιδής / με ψιλή βροχή / "
        "από το περασμένο καλοκαίρι / κάποια ήσυχα βράδια / πριν από τη μεγάλη γιορτή / στις "
        "έξι και μισή",
        "where": "πίσω από την εκκλησία / στην ακροποταμιά / στην αυλή του εργαστηρίου / δίπλα "
        "στη βιβλιοθήκη / κάτω από τις φλαμουριές / πάνω στη γέφυρα / στο καφενείο / μπροστά "
        "στον σταθμό / στα αμπέλια / δίπλα στο τείχος / στη σοφίτα / κοντά στο πηγάδι",
        "why": "επειδή γύρισε ο άνεμος / αν και κανείς δεν το ζήτησε / για να μάθουν τα παιδιά "
        "/ πριν έρθουν οι καλεσμένοι / ενώ ανεβαίνει το νερό / μόλις χτυπήσει η καμπάνα / γιατί "
        "έτσι ήταν πάντα / όσο φτάνει το φως / όταν αργεί το τρένο / αφού έκλεισε η αγορά / σαν "
        "να μην τελειώνει η μέρα",
        "remark": "η υπομονή κοστίζει λιγότερο από τα εργαλεία / ένα καλό σχέδιο χωράει σε μια "
        "κάρτα / όποιος περπατάει αργά βλέπει περισσότερα / τα παλιά κλειδιά ανοίγουν "
        "καινούριες πόρτες / κανένα μήλο δεν πέφτει δύο φορές / η ομίχλη προδίδει το ποτάμι / "
        "κάθε ρολόι λέει μικρά ψέματα / το ψωμί θέλει παρέα / οι δρόμοι γεννιούνται στο "
        "περπάτημα / το άδειο καλάθι είναι κι αυτό ένα νέο",
        "mood": "ήσυχα / φωτεινά / δροσερά / γιορτινά / ζεστά / μελαγχολικά / όμορφα / θολά / "
        "χαρούμενα",
    },
    sentences="{when^} {who} {of} {does}. / {who^} {of} {does} {where}, {why}. / {where^} {who} "
    "{does}, ενώ {who} {of} {does}. / {who^} {of} το λέει συχνά: {remark}. / {who^} και {who} "
    "συναντιούνται {when} {where}, {why}. / Εδώ λένε ότι {remark}· {who} {of} χαμογελάει. / "
    "{when^} είναι {mood} {where}, και {who} {does}. / {remark^}, σκέφτεται {who} {of}, {why}. "
    "/ Μόνο {who} {of} ξέρει γιατί είναι τόσο {mood} {where}. / {why^}, {who} {when} {does}.",
    titles="{who^} {of} / Μια μέρα {where} / Τι ξέρει {who} {of} / {when^} {where} / {remark^}",
    headings="{where^} / {when^} / {who^} {where} / {remark^}",
    points="{remark^}. / {who^} {where}, {when}. / {when^}: {mood} και {mood}.",
    quotations="{remark^}, και {remark}. / {when^} λέω πως {remark}.",
    byline="Γράφει {who} {of}",
    navigation="Αρχική / Νέα / Αρχείο / Φωτογραφίες / Επικοινωνία",
    notices="Τα κείμενα μοιράζονται ελεύθερα όταν αναφέρεται η πηγή. / Περιμένουμε διορθώσεις "
    "και παλιές φωτογραφίες.",
    sites="Τετράδια της πόλης {place} = tetradia-{place}.example / Τα νέα της πόλης {place} = "
    "nea.{place}.example",
    places="Καλαμιά = kalamia / Πετρινό = petrino / Ανεμώνα = anemona / Λευκόβρυση = lefkovrysi",
    slug="selida",
)

JAPANESE = _language(
    "ja",
    lists={
        "who": "庭師 / 先生 / 船頭 / 養蜂家 / 時計職人 / パン屋の主人 / 羊飼い / 灯台守 / "
        "図書館の司書 / 隣の奥さん / 大工 / 絵描き / 郵便屋 / 粉屋",
        "of": "隣村の / 川沿いに住む / 緑の帽子をかぶった / 犬を二匹連れた / 丘の上の / "
        "古い学校の / 声の静かな / 赤い襟巻きの / 市場で働く / 谷から来た / 粉だらけの手をした "
        "/ 灯りを持った",
        "does": "狭い門を開ける / 熟した梨を数える / 長い手紙を書く / 塔の時計を直す / "
        "桶に二杯の水を運ぶ / 黒いパンを焼く / 古い地図を読む / 迷子の犬を探す / 長い垣根を塗る "
        "/ 広間のピアノを調律する / 三月の大水の話をする / 花梨の木を植える / 最後の蜂蜜を売る "
        "/ 湖への道を描く / 礼拝堂の窓を磨く / 冬のために胡桃を集める / みんなに汁物を配る / "
        "帳面を書き写す",
        "when": "朝早く / 秋の終わりに / 初霜のあと / 一週おきの日曜日に / 昼の少し前に / "
        "収穫のころ / 小雨のなか / 去年の夏から / 静かな夕方に / 大きな祭りの前に / 三月の末に "
        "/ 六時半ごろ",
        "where": "教会の裏で / 川岸で / 醸造所の中庭で / 図書館のそばで / 菩提樹の下で / "
        "橋の上で / 集会所で / 駅の前で / 葡萄畑で / 城壁のそばで / 屋根裏で / 井戸のそばで",
        "why": "風向きが変わったので / 誰にも頼まれないのに / 子どもたちが学べるように / "
        "客が来る前に / 水かさが増すあいだ / 鐘が鳴るとすぐに / 昔からそうなので / 明るいうちに "
        "/ 汽車が遅れると / 市が終わってから / 時間など気にせずに / 冬が長くなりそうなので",
        "remark": "根気は道具より安い / 良い計画は葉書一枚に収まる / "
        "ゆっくり歩く人ほど多くを見る / 古い鍵が新しい扉を開ける / 同じ林檎は二度落ちない / "
        "霧は川のありかを教える / どの時計も少しだけ嘘をつく / パンは分け合うと旨い / "
        "道は歩くうちにできる / 空の籠もひとつの便りだ / 片付けは納屋から始まる",
        "mood": "静か / 明るく穏やか / にぎやか / 涼やか / おごそか / のどか / さわやか / ひそやか",
    },
    sentences="{when}、{of}{who}は{does}。 / {why}、{of}{who}は{where}{does}。 / "
    "{where}{who}が{does}と、{of}{who}も{does}。 / {of}{who}はよく言う、{remark}と。 / "
    "{who}と{of}{who}は{when}{where}出会う。 / "
    "このあたりでは{remark}と言われ、{of}{who}は笑っている。 / "
    "{when}あたりは{mood}で、{who}は{does}。 / {remark}と{of}{who}は思い、{why}{does}。 / "
    "{why}、{who}は{when}{does}。",
    titles="{of}{who} / {who}の一日 / {of}{who}が知っていること / {remark}",
    headings="{who}の話 / {of}{who} / {remark}",
    points="{remark}。 / {when}、{where}{does}。 / {of}{who}、{when}。",
    quotations="{remark}、そして{remark}。 / {when}、{remark}と思う。",
    byline="文・{of}{who}",
    navigation="はじめに / お知らせ / 記録 / 写真 / 連絡先",
    notices="出典を示せば文章は自由に分かち合えます。 / 訂正や昔の写真をお待ちしています。",
    sites="{place}の手帖 = techo-{place}.example / {place}だより = tayori.{place}.example",
    places="青葉町 = aobacho / 川辺村 = kawabemura / 星見台 = hoshimidai / 菜の花市 = nanohana",
    slug="kiji",
    joiner="",
)

ARABIC = _language(
    "ar",
    lists={
        "who": "البستاني / المعلم / الطحان / النحال / الساعاتي / الخباز / الصياد / الجار / "
        "الراعي / أمين المكتبة / حارس المنارة / النجار / الرسام / ساعي البريد",
        "of": "من القرية المجاورة / صاحب القبعة الخضراء / من الشارع الأعلى / مع كلبين صغيرين / "
        "من المدرسة القديمة / صاحب الصوت الهادئ / من الضفة الأخرى / صاحب الوشاح الأحمر / من "
        "السوق / من الوادي / مع مصباح في اليد",
        "does": "يفتح|الباب الضيق / يعد|ثمار الكمثرى / يكتب|رسالة طويلة / يصلح|ساعة البرج / "
        "يحمل|دلوين من الماء / يخبز|خبزا أسمر / يقرأ|الخريطة القديمة / يبحث عن|الكلب الضائع / "
        "يدهن|السياج الطويل / يضبط|أوتار العود / يروي|قصة الفيضان / يزرع|شجرة سفرجل / يبيع|آخر "
        "العسل / يرسم|الطريق إلى البحيرة / ينظف|نوافذ القاعة / يجمع|الجوز للشتاء / يوزع|الحساء "
        "الساخن / ينسخ|دفتر الحساب",
        "when": "في الصباح الباكر / في آخر الخريف / بعد أول صقيع / كل أسبوعين / قبيل الظهر / في "
        "موسم الحصاد / تحت مطر خفيف / منذ الصيف الماضي / في المساء الهادئ / قبل العيد الكبير / "
        "في أواخر مارس",
        "where": "خلف المسجد / على ضفة النهر / في ساحة المعمل / قرب المكتبة / تحت أشجار "
        "الزيزفون / على الجسر / في بيت الضيافة / أمام المحطة / في كروم العنب / عند السور / قرب "
        "البئر",
        "why": "لأن الريح تغيرت / مع أن أحدا لم يطلب ذلك / كي يتعلم الأطفال / قبل أن يصل الضيوف "
        "/ بينما يرتفع الماء / حين يدق الجرس / لأن الأمر كان هكذا دائما / ما دام الضوء كافيا / "
        "إذا تأخر القطار / بعد أن تغلق السوق / كأن النهار بلا نهاية",
        "remark": "الصبر أرخص من الأدوات / الخطة الجيدة تسعها بطاقة واحدة / من يمش ببطء ير أكثر "
        "/ المفاتيح القديمة تفتح أبوابا جديدة / التفاحة لا تسقط مرتين / الضباب يدل على النهر / "
        "كل ساعة تكذب قليلا / الخبز أطيب حين نقتسمه / الطرق تولد من المشي / السلة الفارغة خبر "
        "أيضا",
        "mood": "هادئ / مضيء / بارد / صاخب / دافئ / خال / جميل / صاف",
    },
    sentences="{when} {does<} {who} {of} {does>}. / {does<} {who} {of} {does>} {where}، {why}. "
    "/ {where} {does<} {who} {does>}، و{does<} {who} {of} {does>}. / يقول {who} {of}: {remark}. "
    "/ يلتقي {who} و{who} {when} {where}، {why}. / يقال هنا إن {remark}، فيبتسم {who} {of}. / "
    "المكان {mood} {when}، و{who} {of} ينتظر {where}. / {remark}، هكذا يفكر {who} {of}، {why}. "
    "/ لا أحد غير {who} يعرف لماذا المكان {mood} {when}. / {why}، {does<} {who} {of} {does>}.",
    titles="{who} {of} / يوم {where} / ما يعرفه {who} {of} / {remark}",
    headings="{where} / {when} / {who} {where} / {remark}",
    points="{remark}. / {who} {where}، {when}. / {when}: {mood} ثم {mood}.",
    quotations="{remark}، و{remark}. / {when} أقول إن {remark}.",
    byline="كتبه {who} {of}",
    navigation="الرئيسية / الأخبار / المحفوظات / الصور / راسلنا",
    notices="يمكن نقل النصوص بشرط ذكر المصدر. / نرحب بالتصحيحات والصور القديمة.",
    sites="دفاتر {place} = dafatir-{place}.example / أخبار {place} = akhbar.{place}.example",
    places="عين الزهر = ayn-zahr / وادي النخيل = wadi-nakhil / تل الرمان = tal-rumman",
    slug="maqal",
    direction="rtl",
)

HINDI = _language(
    "hi",
    lists={
        "who": "माली / शिक्षक / चक्कीवाला / मधुमक्खी पालक / घड़ीसाज़ / नानबाई / नाविक / पड़ोसी / "
        "चरवाहा / लाइब्रेरियन / बढ़ई / चित्रकार / डाकिया / बुनकर",
        "of": "पास के गाँव का / हरी टोपी वाला / ऊपरी गली का / दो कुत्तों वाला / पुराने स्कूल का / धीमी "
        "आवाज़ वाला / नदी पार का / लाल दुपट्टे वाला / बाज़ार का / घाटी का / आखिरी चक्की का / लालटेन "
        "वाला",
        "does": "छोटा दरवाज़ा खोलता है / पके अमरूद गिनता है / लंबी चिट्ठी लिखता है / मीनार की घड़ी "
        "सुधारता है / दो बाल्टी पानी लाता है / काली रोटी सेंकता है / पुराना नक्शा पढ़ता है / खोया हुआ कुत्ता "
        "ढूँढता है / लंबी बाड़ रंगता है / सितार के तार मिलाता है / बाढ़ की कहानी सुनाता है / आम का पेड़ लगाता "
        "है / आखिरी शहद बेचता है / झील का रास्ता बनाता है / खिड़कियाँ साफ करता है / सर्दियों के लिए अखरोट "
        "जुटाता है / सबको गरम शोरबा देता है / पुरानी बही उतारता है",
        "when": "सुबह सवेरे / पतझड़ के अंत में / पहली ठंड के बाद / हर दूसरे रविवार / दोपहर से पहले / फसल के "
        "समय / हल्की बारिश में / पिछली गर्मियों से / शांत शामों में / बड़े मेले से पहले / मार्च के आखिर में",
        "where": "मंदिर के पीछे / नदी के किनारे / कारखाने के आँगन में / पुस्तकालय के पास / नीम के नीचे / पुल के "
        "ऊपर / पंचायत घर में / स्टेशन के सामने / अंगूर के बाग में / पुरानी दीवार के पास / कुएँ के पास",
        "why": "क्योंकि हवा बदल गई है / हालाँकि किसी ने कहा नहीं / ताकि बच्चे कुछ सीखें / जब तक मेहमान नहीं "
        "आते / जब पानी चढ़ता है / जैसे ही घंटी बजती है / क्योंकि हमेशा ऐसा ही रहा है / जब तक उजाला रहता है "
        "/ जब गाड़ी देर से आती है / मानो दिन कभी खत्म न हो / क्योंकि सर्दी लंबी होगी",
        "remark": "धीरज औज़ारों से सस्ता है / अच्छी योजना एक पोस्टकार्ड पर आ जाती है / धीरे चलने वाला "
        "ज़्यादा देखता है / पुरानी चाबियाँ नए दरवाज़े खोलती हैं / कोई सेब दो बार नहीं गिरता / कोहरा नदी का "
        "पता देता है / हर घड़ी थोड़ा झूठ बोलती है / बाँटी हुई रोटी मीठी होती है / रास्ते चलने से बनते हैं / "
        "खाली टोकरी भी एक खबर है",
        "mood": "शांति / रौनक / ठंडक / चहल पहल / रोशनी / खामोशी / गरमाहट / खुशी",
    },
    sentences="{when} {of} {who} {does}। / {of} {who} {where} {does}, {why}। / {where} {who} "
    "{does}, और {of} {who} {does}। / {of} {who} अक्सर कहता है कि {remark}। / {who} और {of} {who} "
    "{when} {where} मिलते हैं, {why}। / यहाँ कहा जाता है कि {remark}, और {of} {who} मुस्कुराता है। / "
    "{when} {where} {mood} रहती है, तब {who} {does}। / {remark}, ऐसा {of} {who} सोचता है, {why}। "
    "/ सिर्फ {of} {who} जानता है कि {where} इतनी {mood} क्यों है।",
    titles="{of} {who} / {where} एक दिन / {of} {who} क्या जानता है / {remark}",
    headings="{where} / {when} / {of} {who} / {remark}",
    points="{remark}। / {of} {who}, {where}, {when}। / {when}: {mood} और {mood}।",
    quotations="{remark}, और {remark}। / {when} मुझे लगता है कि {remark}।",
    byline="लेखक: {of} {who}",
    navigation="मुखपृष्ठ / समाचार / अभिलेख / चित्र / संपर्क",
    notices="स्रोत बताकर इन लेखों को बाँटा जा सकता है। / सुधार और पुराने चित्र भेजिए।",
    sites="{place} की डायरी = diary-{place}.example / {place} समाचार = samachar.{place}.example",
    places="आमगाँव = aamgaon / नीमपुर = neempur / शहदनगर = shahadnagar",
    slug="lekh",
)

LANGUAGES: dict[str, Language] = {
    language.code: language
    for language in (GERMAN, FRENCH, RUSSIAN, GREEK, JAPANESE, ARABIC, HINDI)
}
