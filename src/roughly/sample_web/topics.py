"""The vocabulary of the English pages: eight topics, each with the same named lists.

An entry fits every sentence of `english.py` that asks for its list:
thing and tool are singular and take an article, things is plural, goods is uncountable, place
begins with "the", act is a predicate in the past, doing a gerund, advice an imperative, sign a
clause in the present, trade a person with "the". No entry holds a hyphen or an apostrophe, so
that a word here is a token there.
"""

Lists = dict[str, tuple[str, ...]]


def lists_of(**columns: str) -> Lists:
    return {
        name: tuple(" ".join(entry.split()) for entry in column.split(","))
        for name, column in columns.items()
    }


ORCHARD = lists_of(
    thing="apple tree, quince, graft, windfall, hedge, pear, seedling, blossom, rootstock, "
    "medlar, damson, espalier, crab apple, cider press",
    things="apples, quinces, grafts, pears, hedges, seedlings, medlars, windfalls, plums, "
    "cherries, damsons, young trees, old branches, fruit buds, brambles, russets",
    tool="ladder, pruning knife, wicker basket, billhook, wheelbarrow, ball of twine, grafting "
    "saw, watering can, long rake, tin label, whetstone, apple crate",
    place="the walled garden, the lower orchard, the potting shed, the south wall, the nursery "
    "bed, the fruit store, the compost yard, the old pump, the gate by the lane, the far row, "
    "the frost hollow, the cider house, the bee bank, the kitchen plot",
    act="pruned the old russet, counted the blossoms twice, carried water to the far row, tied "
    "the young stems, sharpened the knives, mended the wicker baskets, dug in the leaf mould, "
    "labelled every graft, turned the compost, swept the fruit store, lit a fire against the "
    "frost, picked the last medlars, burned the diseased twigs, planted a row of damsons, "
    "thinned the clusters by hand, washed the cider press, wrapped the trunks in straw, "
    "measured the new growth, hung tins to scare the birds, cut the grass with a scythe, tasted "
    "every pear, moved the ladders indoors, drew a map of the trees, gave away the windfalls",
    doing="pruning in the cold, storing apples in straw, grafting an old variety, shaping a "
    "young tree, reading the buds, planting against a wall, pressing cider, keeping out the "
    "deer, thinning the fruit, feeding the soil, picking without bruising, naming the trees, "
    "waiting for the frost, saving seed, mulching the roots, walking the rows",
    quality="sweet, russet, hardy, early, crooked, patient, fragrant, sour, generous, mossy, "
    "stubborn, ripe, wild, tender, golden, neglected",
    sign="the bark turns silver, the leaves curl at noon, the first swallow arrives, the pips "
    "are brown, the grass stays wet until ten, the wasps find the plums, the stem snaps "
    "cleanly, the buds swell overnight, the moon is on its back, the soil smells of mushrooms, "
    "the blackbirds fall silent, a thumb leaves no dent, the catkins open, the fog sits in the "
    "hollow",
    goods="leaf mould, straw, ash, rainwater, lime, manure, shade, raffia, cider, sawdust",
    advice="leave the ladder where it stands, cut just above a bud, never prune in the rain, "
    "pick the shaded side last, keep the straw dry, water the roots and not the leaves, write "
    "the name on a tin label, let the windfalls lie a day, plant a second tree for company, "
    "sharpen the knife first, tie with raffia and not with wire, open the store at night, take "
    "only one scion from each branch, trust the old stock",
    trade="the grafter, the head gardener, the cider maker, the nurseryman, the fruit picker, "
    "the hedge layer, the seed merchant, the warden of the orchard",
)

COAST = lists_of(
    thing="lighthouse, buoy, tide table, breakwater, fog signal, rowing boat, lantern, "
    "sandbank, mooring, harbour wall, signal flag, lobster pot, slipway, chart",
    things="boats, buoys, gulls, tides, lanterns, charts, ropes, sandbanks, sails, lobster "
    "pots, signal flags, oars, storms, moorings, lenses, barometers",
    tool="brass telescope, marlinspike, sounding line, bilge pump, tarred rope, log book, storm "
    "glass, spare oar, canvas bucket, boat hook, caulking iron, hand compass",
    place="the lamp room, the north pier, the outer reef, the boat shed, the cottage garden, "
    "the slipway, the customs house, the shingle beach, the signal mast, the chandlery, the "
    "tidal pool, the ferry landing, the net loft, the eastern channel",
    act="trimmed the lamp, sounded the channel, painted the hull green, entered the wind in the "
    "log book, rowed out to the buoy, mended the nets, polished the great lens, hauled the "
    "boats above the tide, hoisted the storm cone, spliced a new mooring, watched the ferry "
    "turn back, scraped the barnacles away, rang the fog bell, drew the sandbank on the chart, "
    "caulked the last seam, waited for slack water, counted seventeen sails, dried the flags, "
    "sold the catch on the pier, lit the stove in the lamp room, checked the barometer, coiled "
    "every rope, rescued a drifting dinghy, read the tide table aloud",
    doing="reading the tide, rowing against the ebb, keeping a light, splicing rope, painting a "
    "wooden hull, drawing a chart, fishing from the pier, steering by the stars, forecasting a "
    "gale, anchoring in sand, listening for the bell, drying the sails, launching from a beach, "
    "naming the rocks, mending nets, crossing the bar",
    quality="salt, grey, steady, sheltered, lonely, tidal, bright, weathered, restless, calm, "
    "narrow, distant, hollow, patient, brisk, northern",
    sign="the gulls come inland, the swell turns oily, the glass falls quickly, the lamp "
    "flickers twice, the wind backs to the east, the ferry sounds its horn, the horizon "
    "disappears, the seaweed goes limp, the channel runs brown, the moon wears a ring, the "
    "ropes begin to sing, the stones are warm at dusk, the tide leaves the outer reef, the "
    "terns stop diving",
    goods="lamp oil, tar, salt, oakum, driftwood, paint, canvas, fresh water, brass polish, coal",
    advice="wait for slack water, trust the glass before the sky, keep the lens clean, never "
    "turn your back to a wave, coil the rope before supper, stow the oars low, carry a second "
    "lantern, write down the wind, leave the harbour at half tide, count the seconds between "
    "flashes, ask the oldest fisherman, anchor further out, take the long way round the reef, "
    "reef the sail early",
    trade="the keeper, the harbour master, the ferryman, the pilot, the net maker, the chart "
    "seller, the boat builder, the coxswain",
)

BREAD = lists_of(
    thing="loaf, sourdough, oven, crust, starter, baking stone, rye loaf, bun, sack of flour, "
    "recipe, flatbread, proving basket, mill, kneading trough",
    things="loaves, crusts, starters, buns, recipes, ovens, millstones, rolls, baskets, flours, "
    "pastries, rye loaves, biscuits, ferments, crumbs, pretzels",
    tool="wooden peel, dough scraper, rye starter, linen cloth, oven brush, copper bowl, "
    "kitchen scale, bread knife, flour sieve, proving basket, clay jar, rolling pin",
    place="the back kitchen, the village bakery, the mill loft, the flour store, the market "
    "stall, the cellar, the brick oven, the proving room, the corner shop, the school kitchen, "
    "the courtyard, the long table, the wood pile, the cooling rack",
    act="fed the starter, weighed the rye, slid the loaves into the oven, swept out the embers, "
    "kneaded for ten minutes, scored the crust with a razor, milled a sack of wheat, burned the "
    "first batch, wrote the recipe on the wall, opened the shop at six, shared a warm bun, "
    "dusted the baskets, folded the dough four times, proved the rolls overnight, sifted the "
    "bran away, forgot the salt, baked forty pretzels, listened to the crust crackle, sold the "
    "last loaf, cleaned the copper bowl, toasted the caraway, added a cup of whey, let the oven "
    "fall, broke the bread at the table",
    doing="kneading a wet dough, keeping a starter alive, milling at home, baking with rye, "
    "lighting a brick oven, shaping a round loaf, proving in the cold, scoring the crust, "
    "choosing flour, soaking the grain, reading the crumb, storing bread, salting the dough, "
    "baking for a market, measuring by hand, saving stale crusts",
    quality="crusty, sour, warm, dark, airy, slow, salted, dense, toasted, nutty, floury, soft, "
    "honest, malty, fresh, fragrant",
    sign="the dough springs back, the crust sings, the starter floats in water, the kitchen "
    "smells of malt, the flour turns grey, the bubbles reach the rim, the oven floor looks "
    "white, the base sounds hollow, the loaf leaves the basket, a finger comes out clean, the "
    "butter softens by itself, the scales read the same twice, the crumb tears in sheets, the "
    "neighbours come to the door",
    goods="rye flour, salt, yeast, water, honey, malt, bran, butter, caraway, whey",
    advice="weigh the water, wait another hour, keep the starter near the stove, salt late and "
    "stir well, bake darker than you dare, dust the basket with rice flour, never hurry a rye, "
    "save a spoonful for tomorrow, let the loaf cool before cutting, turn the tray once, warm "
    "the bowl first, fold and do not punch, buy whole grain, leave the oven door shut",
    trade="the baker, the miller, the apprentice, the pastry cook, the market woman, the oven "
    "builder, the night baker, the flour merchant",
)

STARS = lists_of(
    thing="telescope, comet, star chart, eyepiece, eclipse, planet, sundial, nebula, meteor, "
    "dome, double star, moon map, mirror, observing log",
    things="comets, planets, meteors, eyepieces, star charts, mirrors, nebulae, moons, double "
    "stars, sunspots, shadows, eclipses, clear nights, observers, clusters, telescopes",
    tool="red torch, folding chair, star atlas, finder scope, pocket notebook, woollen blanket, "
    "brass sextant, grinding tool, pinhole card, thermos flask, dew shield, steel rule",
    place="the observatory roof, the dark field, the dome, the old schoolyard, the eastern "
    "horizon, the planetarium, the workshop bench, the meadow above town, the reading room, the "
    "balcony, the frozen lake, the quiet ridge, the museum stairs, the southern sky",
    act="ground the mirror, sketched the rings of Saturn, waited for the clouds to part, "
    "counted meteors until dawn, found the faint comet, aligned the mount, read the atlas by "
    "red light, timed the eclipse, cleaned the eyepiece, logged every observation, named a "
    "crater after the cat, borrowed a brighter torch, split a double star, opened the dome, "
    "followed the moon, measured the shadow at noon, drew the sunspots, taught the children to "
    "find Vega, polished the glass for weeks, missed the occultation, poured the tea, packed "
    "away the tripod, compared two star charts, slept through the transit",
    doing="grinding a mirror, finding north, drawing the moon, watching a meteor shower, "
    "reading a star chart, waiting for darkness, timing an eclipse, cleaning old lenses, "
    "teaching the constellations, photographing planets, keeping a log, building a sundial, "
    "chasing a comet, adapting the eye, measuring angles, sharing an eyepiece",
    quality="faint, bright, distant, silent, circumpolar, cold, dark, reddish, variable, "
    "precise, patient, crowded, ancient, brief, luminous, rare",
    sign="the Milky Way casts a shadow, the dew settles on the lens, the seeing steadies, Orion "
    "clears the chimney, the village lamps go out, the comet grows a tail, the moon slips "
    "behind the poplars, the mirror reaches the air temperature, the stars stop twinkling, the "
    "first owl calls, the shadow touches the noon mark, Jupiter shows two belts, the eastern "
    "sky turns green, the battery fails",
    goods="patience, darkness, pitch, hot tea, starlight, cardboard, frost, rouge powder, "
    "chalk, silence",
    advice="let the eye adapt, start with the moon, keep the lens cap in one pocket, write "
    "before you forget, dress for a colder night, use the lowest power first, leave the torch "
    "at home, draw what you see and nothing else, look slightly to the side, check the date "
    "twice, never observe the sun without a filter, share the view, wait ten more minutes, note "
    "the hour",
    trade="the astronomer, the clockmaker, the lens grinder, the night watchman, the physics "
    "teacher, the comet hunter, the curator, the amateur next door",
)

RAILWAY = lists_of(
    thing="signal box, branch line, tank engine, timetable, viaduct, platform, level crossing, "
    "guard van, ticket, waiting room, turntable, tunnel, lamp, footbridge",
    things="engines, timetables, platforms, tickets, sleepers, signals, tunnels, carriages, "
    "points, viaducts, whistles, lamps, parcels, bridges, passengers, sidings",
    tool="signal lever, green flag, oil can, track gauge, brass whistle, coal shovel, hand "
    "lamp, ticket punch, long spanner, pocket watch, paint pot, station bell",
    place="the signal box, the old platform, the goods yard, the engine shed, the booking hall, "
    "the viaduct, the junction, the waiting room, the tunnel mouth, the water tower, the "
    "station garden, the parcel office, the branch terminus, the footbridge",
    act="wound the station clock, oiled the points, waved the green flag, painted the "
    "footbridge, punched four hundred tickets, walked the line to the tunnel, cleaned the "
    "firebox, filled the tender, found a lost umbrella, answered the block bell, weeded the "
    "platform, replaced nine sleepers, sorted the parcels, polished the brass dome, swept the "
    "waiting room, printed a new timetable, held the last train, counted the wagons, set the "
    "points for the branch, raised steam before dawn, photographed the viaduct, restored a "
    "guard van, lit the tail lamp, missed the connection",
    doing="oiling the points, reading a timetable, restoring a carriage, walking a closed line, "
    "raising steam, painting a signal, keeping the clock right, sorting parcels, driving in "
    "fog, shunting by hand, laying sleepers, collecting tickets, waiting for a connection, "
    "crossing the viaduct, ringing the block bell, saving a station",
    quality="narrow, punctual, rusty, green, disused, single, steep, busy, late, sooty, "
    "graceful, rural, proud, noisy, short, celebrated",
    sign="the rails begin to hum, the signal drops, the block bell rings twice, steam hides the "
    "bridge, the last passenger runs, the clock shows ten past, the lamp turns green, the "
    "wheels slip on leaves, the porter folds his paper, the kettle boils in the signal box, the "
    "tunnel breathes out cold air, the rooks leave the water tower, the whistle echoes from the "
    "quarry, the gates close",
    goods="coal, steam, oil, ballast, green paint, creosote, grease, hot water, brass, timber",
    advice="arrive five minutes early, mind the gap in the fence, keep the ticket until the "
    "end, oil little and often, sit on the left for the viaduct, ask at the signal box, paint "
    "in dry weather, listen before crossing, wind the clock on Sunday, write to the museum, "
    "take the slow train, never stand on the points, bring a flask, save the old timetable",
    trade="the signalman, the porter, the fireman, the guard, the station master, the track "
    "walker, the volunteer in overalls, the ticket collector",
)

BEES = lists_of(
    thing="hive, queen, swarm, honeycomb, frame, smoker, skep, nectar flow, brood nest, apiary, "
    "wax cap, honey jar, veil, flower bed",
    things="hives, bees, swarms, queens, frames, combs, drones, honey jars, flowers, skeps, "
    "wasps, limes, clovers, colonies, wax candles, foragers",
    tool="smoker, hive tool, straw skep, bee brush, spare frame, honey extractor, cotton veil, "
    "queen cage, feeder, glass jar, uncapping fork, landing board",
    place="the apiary, the clover field, the lime avenue, the heather moor, the honey room, the "
    "hedge bottom, the roof garden, the hollow oak, the meadow gate, the monastery wall, the "
    "winter stand, the allotment, the wild bank, the stone barn",
    act="lifted the brood frames, caught a swarm in a skep, marked the queen blue, fed the weak "
    "colony, lit the smoker with dry grass, spun the first honey, moved the hives to the "
    "heather, counted the mites, melted the old comb, reduced the entrance, painted the landing "
    "boards, united two colonies, listened at the hive wall, strained the honey, planted "
    "phacelia, waited for the rain to stop, wrote the hive diary, scraped the propolis, sold "
    "twelve jars, left the top box alone, found a spare queen, repaired the stand, poured wax "
    "candles, watched the drones go out",
    doing="catching a swarm, reading the brood, spinning honey, feeding in autumn, marking a "
    "queen, rendering wax, planting for bees, moving a hive, uniting colonies, keeping a hive "
    "diary, wintering outdoors, lighting a smoker, watching the entrance, labelling jars, "
    "listening in January, raising queens",
    quality="gentle, amber, busy, fragrant, strong, wild, calm, late, light, golden, swarming, "
    "thrifty, frugal, prosperous, noisy, sunny",
    sign="the limes come into flower, the drones are driven out, the bees carry yellow pollen, "
    "the hive hums on one note, the queen slows down, the scouts dance on the comb, the wax "
    "turns white, the wasps wait at the entrance, the first ivy opens, the hive grows heavy, "
    "the cluster hangs from the plum, the evenings smell of honey, the rain keeps them in, the "
    "snow melts on one roof only",
    goods="honey, wax, pollen, propolis, smoke, nectar, sugar syrup, heather, clover, brood",
    advice="move slowly, leave enough for the winter, stand beside the entrance, open the hive "
    "at noon, keep the smoker cool, write the date on the frame, never work in thunder, give "
    "them room before they ask, plant borage, wait for a warm day, tell the bees the news, "
    "close the box gently, buy local queens, strain the honey twice",
    trade="the beekeeper, the swarm catcher, the candle maker, the inspector, the monk, the "
    "botanist, the honey seller, the hive builder",
)

HILLS = lists_of(
    thing="path, cairn, summit, map, rucksack, stone hut, ridge, footbridge, waymark, spring, "
    "col, boot, valley, weather front",
    things="paths, cairns, maps, boots, ridges, streams, sheep, waymarks, huts, clouds, "
    "valleys, stone walls, crags, springs, walkers, rucksacks",
    tool="paper map, walking stick, compass, tin cup, spare lace, rain cape, candle lantern, "
    "pocket knife, wool hat, small stove, whistle, guidebook",
    place="the stone hut, the high pass, the valley inn, the sheepfold, the lower falls, the "
    "ridge path, the summit cairn, the pine wood, the packhorse bridge, the upper meadow, the "
    "north face, the shepherd track, the bog, the car park",
    act="followed the wall to the pass, lost the path in cloud, built up the cairn, dried the "
    "socks by the stove, crossed the stream three times, read the map aloud, slept in the stone "
    "hut, ate the last apple on the summit, waited for the mist to lift, repainted the "
    "waymarks, turned back below the ridge, met a flock on the track, filled the bottles at the "
    "spring, mended a boot with string, signed the summit book, took the wrong valley, watched "
    "the storm go east, carried the tent, sketched the skyline, thanked the warden, found a "
    "glove on the fence, walked until dark, told the story twice, rested under the crag",
    doing="reading a contour line, crossing a bog, walking in cloud, packing light, building a "
    "cairn, drying boots, following a wall, sleeping in a hut, judging the weather, drinking "
    "from a spring, walking alone, turning back in time, finding the pass, climbing before "
    "breakfast, naming the peaks, coming down",
    quality="steep, stony, high, windy, green, long, boggy, quiet, airy, sunlit, remote, faint, "
    "gentle, wet, broad, lonely",
    sign="the cloud sits on the summit, the sheep come down, the wind drops at the pass, the "
    "path turns to rushes, the stream runs louder, the far ridge looks near, the first hut "
    "appears, the waymarks stop, the ravens circle the crag, the grass lies flat, the light "
    "goes yellow, the snow holds a boot, the map gets wet, the bell rings in the valley",
    goods="rain, wool, chocolate, peat, granite, snow, heather, string, cheese, fresh air",
    advice="start before the sun, turn back at two, carry one warm layer more, follow the wall "
    "down, ask the shepherd, keep the map dry, eat before you are hungry, close every gate, "
    "never cut the corner, count your paces in fog, leave the hut tidy, look behind you often, "
    "tell somebody the route, rest before the ridge",
    trade="the shepherd, the hut warden, the guide, the surveyor, the postman of the valley, "
    "the innkeeper, the map maker, the geologist",
)

PAPER = lists_of(
    thing="book, manuscript, printing press, catalogue, margin note, binding, map room, letter, "
    "atlas, bookplate, reading lamp, pamphlet, typeface, library card",
    things="books, letters, catalogues, bindings, pamphlets, maps, readers, bookplates, margin "
    "notes, shelves, typefaces, almanacs, parchments, newspapers, dictionaries, proofs",
    tool="bone folder, composing stick, date stamp, magnifying glass, linen thread, card index, "
    "brass lamp, paste brush, paper knife, step ladder, wooden press, ink roller",
    place="the reading room, the basement stacks, the map room, the bindery, the print shop, "
    "the catalogue hall, the children corner, the spiral stair, the archive, the bookshop by "
    "the bridge, the gallery, the storeroom, the paper mill, the window seat",
    act="sewed the loose gatherings, set the title in italic, dusted the upper shelves, "
    "corrected the last proof, found a letter in a binding, rewrote the card index, pressed the "
    "wet sheets, mixed a blacker ink, read the margin notes, lent out the only copy, numbered "
    "the maps, pasted in a bookplate, opened the parcel with care, compared two editions, "
    "copied the inscription, pulled a first impression, closed the shutters at four, catalogued "
    "the almanacs, repaired the spine, wrote to the author, lost a page, lit the reading lamps, "
    "sharpened every pencil, waited for the glue to dry",
    doing="binding by hand, reading old handwriting, setting type, cataloguing letters, making "
    "paper, repairing a spine, collecting bookplates, comparing editions, mixing ink, storing "
    "maps, indexing an almanac, lending books, correcting proofs, folding a sheet, dating a "
    "watermark, reading aloud",
    quality="rare, foxed, narrow, learned, faded, gilt, curious, dusty, exact, handwritten, "
    "thin, crowded, legible, anonymous, quiet, celebrated",
    sign="the glue turns clear, the ink sinks in, the spine cracks, the lamp is moved, the "
    "index ends at Q, the paper remembers the fold, the reader looks up, the clock in the hall "
    "strikes, the watermark shows a crown, the catalogue disagrees, the dust smells of vanilla, "
    "the type sits square, the shutters rattle, the last page is blank",
    goods="ink, glue, linen, paper, dust, gold leaf, parchment, daylight, thread, cardboard",
    advice="wash your hands, turn the page from the corner, keep the ink warm, copy the shelf "
    "mark, never trust a date in pencil, read the preface last, store maps flat, use less glue, "
    "ask for the older catalogue, leave a slip where you found it, check the watermark, number "
    "every sheet, let the press rest, return what you borrow",
    trade="the librarian, the bookbinder, the printer, the archivist, the proofreader, the "
    "second hand bookseller, the type founder, the night porter",
)

TOPICS: dict[str, Lists] = {
    "orchard": ORCHARD,
    "coast": COAST,
    "bread": BREAD,
    "stars": STARS,
    "railway": RAILWAY,
    "bees": BEES,
    "hills": HILLS,
    "paper": PAPER,
}
