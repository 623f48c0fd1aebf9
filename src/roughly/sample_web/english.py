"""The sentences of the English pages and the words that every topic shares.

A slot `{name}` is filled from the list of that name (of the topic, of this file, or of the cast of
one article: hero, friend, elder, town); `{a name}` adds the indefinite article, `{name^}` begins
with a capital. At most four fixed words stand between two slots, so that two articles seldom have
five words in a row in common by chance.
"""

from roughly.sample_web.topics import Lists, lists_of

COMMON: Lists = lists_of(
    time="in early March, on the first warm evening, before breakfast, towards the end of the "
    "week, after the long rain, one Sunday in October, at the turn of the year, late in the "
    "afternoon, on market day, during the dry summer, while the kettle boiled, the morning "
    "after the fair, in the week of the first frost, just before dusk, at half past four, on "
    "the longest day, during the school holidays, in the middle of the night, soon after the "
    "thaw, on a windless Tuesday, when nobody was watching, a fortnight later, between two "
    "showers, at the end of November",
    when="in a dry year, at first light, in the long run, after dark, most of the time, in cold "
    "weather, on a good day, for a week or two, every other spring, near the end, by "
    "candlelight, once the visitors leave, on quiet mornings, in most hands, far from town, when "
    "money is short",
    year="1911, 1923, 1934, 1948, 1952, 1957, 1961, 1968, 1973, 1979, 1984, 1986, 1991, 1998, "
    "2003, 2009, 2014, 2019",
    number="two, three, four, five, six, seven, eight, nine, eleven, twelve, fifteen, twenty, "
    "forty, sixty",
    manner="slowly, without hurry, with great care, almost by accident, in complete silence, "
    "for the third time, with a borrowed knife, as if it were nothing, under a grey sky, to "
    "general applause, in spite of the cold, with both hands, as quietly as possible, with the "
    "radio on, against all advice, in the usual order",
    reason="because the wind had turned, since nobody else would, so that the others could "
    "rest, although the light was poor, as the rules require, because it had always been done "
    "so, while the rest of us argued, as though time did not matter, because the letter said "
    "so, until somebody called us in, since the old way had failed, before anyone could object, "
    "because the neighbours had asked, as long as the weather held, in case the buyer came "
    "back, because a promise is a promise",
    verdict="a small miracle, a matter of taste, the whole secret, an expensive mistake, a good "
    "beginning, the subject of a long quarrel, half the pleasure, a question of luck, more work "
    "than it looks, the best part of the day, a habit worth keeping, an open question, a story "
    "for another page, an old and honourable trick, a sign of real skill, no great loss",
    source="the parish notebook, a letter from {town}, the winter newsletter, an old diary, the "
    "minute book of the society, a postcard, the handwritten ledger, the county almanac, a "
    "faded photograph, the notice by the door, the second edition of the handbook, an unsigned "
    "pamphlet",
    people="our neighbours, the children, most visitors, the committee, two students, the "
    "newcomers, the regulars, my cousins, the volunteers, several readers, the people of "
    "{town}, the old hands",
    thinks="believe, repeat, insist, have noticed, like to say, often forget, now agree, still "
    "doubt, will tell you, wrote to us",
)

FIRST_NAMES = (
    "Marta Edwin Ingrid Tobias Nora Felix Agnes Rupert Lena Oskar Hilda Jonas Petra Silas Clara "
    "Hugo Vera Anton Edith Casper Ida Leopold Greta Alban Rosa Emil Thea Walter Dora Stefan "
    "Mabel Arno"
).split()

LAST_NAMES = (
    "Quill Fenwick Larkin Hollis Brandt Osborne Pell Thornbury Vance Ashdown Marlow Kettering "
    "Lindqvist Penrose Rook Sandys Wetherby Aldous Brock Carrow Dunmore Eastlake Farrow Garrick "
    "Hartnell Inskip Jessop Kemble Lovell Merrick Northcote Oakes"
).split()

SENTENCES = (
    "{time^} {hero} {act}, and {friend} {act}.",
    "{hero} {act} {time}, {reason}.",
    "{things^} are {quality} {when}, and {quality} again once {sign}.",
    "Nobody near {place} remembers {a thing} as {quality} as that one.",
    "{elder^} used to say that {things} want {goods} before they want {goods}.",
    "If {sign}, {advice}.",
    "Some say that {doing} is {verdict}; {hero} calls it {verdict}.",
    "There were once {number} dozen {things} at {place}; by {year} only {number} remained.",
    "We kept {a tool} and some {goods} at {place} {reason}.",
    "{people^} {thinks} that {sign} whenever {trade} is near {place}.",
    "According to {source}, {trade} {act} in {year}.",
    "{advice^}, {advice}, and {advice}.",
    "{a quality^} {thing} needs {goods}, {goods} and {number} days of rest.",
    "For {number} years {friend} {act} {manner}.",
    "{doing^} teaches more about {things} than {number} lectures on {things}.",
    "{friend} noticed that {sign}, {act}, and spoke of {doing}.",
    "{trade^} still carries {a tool}, though {things} hardly ask for it {when}.",
    "In {source} we read that {hero} {act} {reason}.",
    "Between {place} and {place} you will see {things}, {quality} and {quality}.",
    "What looks like {a thing} from {place} is often {a quality} {thing}.",
    "{people^} {act} {time}.",
    "{a tool^} costs little; {goods}, {when}, costs {number} times as much.",
    "{hero} laughed, {act}, and said that {doing} was {verdict}.",
    "When {sign}, {trade} puts away the {tool} and turns to {doing}.",
    "Of all the {things} in {town}, the {quality} ones last longest {when}.",
    "It took {number} of us to move the {thing} from {place} to {place}.",
    "{friend} disagreed: {things}, {quality} or not, belong at {place}.",
    "By {year} the {tool} had become {quality}, and {trade} {act} without it.",
    "My first {thing} was {quality}, my second {quality}, and the third was {verdict}.",
    "{time^} the {quality} {things} were carried to {place} {manner}.",
    "Whoever tries {doing} {when} should remember {number} things about {goods}.",
    "{elder^} {act} {manner}, {reason}.",
    "Without {goods} the {things} stay {quality}; with {goods} they turn {quality}.",
    "{source^} mentions {a tool}, {number} {things} and {a quality} {thing}.",
    "Ask {trade} about {doing} and {people} will gather at {place}.",
    "{sign^}, or so {people} {thinks}, a day before {trade} arrives.",
    "Later {hero} and {friend} {act} and never spoke of {things} again.",
    "The {thing} at {place} dates from {year} and smells of {goods}.",
    "Most {things} survive {doing}; few survive {a quality} {tool}.",
    "{town} has {number} {things}, one {quality} {thing}, and {trade}.",
    "I asked {elder} why {sign}; the answer was {goods}.",
    "{doing^} and {doing} are one craft, {trade} told {friend} {time}.",
    "{number^} times out of a hundred the {thing} is {quality} enough {when}.",
    "{hero} kept {goods} beside the {tool}, {reason}.",
    "Only {people} noticed that the {quality} {thing} had left {place}.",
    "{advice^}, especially {when}, and {things} will forgive the rest.",
    "{people^} walked for {number} hours to see {a thing} that {friend} had found near {place}.",
    "{people^} never wait until {sign}; {number} of them {act} {time}.",
    "There is {verdict} in {doing}, and {verdict} in {doing}.",
    "At {place} {trade} {act} while {hero} {act}.",
    "Even {a quality} {thing} can outlive {trade} if {people} {act} each year.",
    "Until {year} {things} travelled with {goods}, never with {goods}.",
    "{friend} wrote {number} pages on {doing}, mostly {when} and mostly {manner}.",
    "Nothing about {a thing} is {quality} except the {tool} beside it.",
    "Suppose {sign} and the {tool} is missing: {advice}.",
    "{place^} was {quality} then, {quality} in {year}, and is {quality} today.",
)

TITLES = (
    "Notes from {place}",
    "What {trade} knows about {things}",
    "{a quality^} {thing} and {a tool}",
    "On {doing}",
    "{things^}, {things} and {goods}",
    "How {town} lost its {things}",
    "{doing^}: {number} lessons",
    "The {quality} {things} of {town}",
    "A year of {doing}",
    "{hero} and the {quality} {thing}",
    "In praise of the {tool}",
    "{number^} questions for {trade}",
    "Letter from {town} about {things}",
    "Why {sign}",
    "{place^} in {year}",
    "{advice^}",
)

HEADINGS = (
    "{doing^}",
    "The {quality} {thing}",
    "A word about {goods}",
    "{place^}",
    "What {people} {thinks}",
    "{things^} {when}",
    "When {sign}",
    "The {tool}",
    "{number^} {things}",
    "{year^} and after",
)

POINTS = (
    "{advice^} {when}.",
    "{a tool^}, {quality} but {quality}.",
    "{number^} {things} for {place}.",
    "Some {goods} and {a quality} {tool}.",
    "{advice^}: {sign}.",
)

QUOTATIONS = (
    "{advice^}, and {advice} when {sign}.",
    "{things^} are {verdict}; {goods} is {verdict}.",
    "I have known {number} {things}, and {a quality} {thing} taught me {doing}.",
    "{doing^}? {verdict^}, if {people} ask me.",
)
