"""Names, objects, containers, places, currencies and made-up words."""
from __future__ import annotations

import random
import re

from .core import Bank

_HE = """Tom Ben Liam Noah Omar Ravi Kenji Mateo Luca Jamal Kofi Pedro Hassan Arjun Wei Yusuf Ivan Felix Oscar Hugo Diego Andre
Emeka Sanjay Tariq Bilal Anton Jonas Milan Pavel Stefan Viktor Theo Max Sam Jack Henry Leo Owen Caleb Eli Marcus Darius Malik Jorge Carlos
Raul Enzo Marco Paolo Nikhil Rohan Vikram Minh Duc Jun Hiro Takeshi Akira Tunde Chidi Kwame Abdul Karim Samir Nadir Faisal Erik Lars Sven
Bjorn Mikael Aleksi Janek Tomasz Piotr Radu Bogdan Ilya Dmitri Sergei Amir Reza Kaveh Levi Asher Ezra Isaac Peter Paul George Fred Walter
James John Robert Michael David Daniel Jake Josh Ryan Kevin Brian Mark Steve Billy Tim Joe Mike Bob Alex Chris Nick Ethan Logan Mason Lucas
Mr._Lee Mr._Brown Mr._Gomez Grandpa Uncle_Joe Mr._Patel Mr._Novak"""
_SHE = """Ann Mia Lena Sara Zoe Aisha Priya Mei Fatima Sofia Lucia Ines Chloe Emma Olivia Ava Ella Grace Hannah Ruth Naomi Amara Zainab Nia
Imani Leila Yasmin Nadia Samira Hana Yuki Sakura Linh Thuy Mai Ananya Divya Kavya Meera Lakshmi Rosa Carmen Elena Valentina Camila Gabriela
Isabel Marta Paula Greta Ingrid Astrid Freya Elsa Karin Petra Jana Zuzana Katya Olga Irina Svetlana Daria Anja Maren Heidi Clara Julia Nina
Eva Ida Tessa Wendy Megan Kayla Brooke Tanya Bella Ruby Pearl Ivy Abena Adwoa Efua Ngozi Chioma Thandi Lerato Wanjiru Nomsa Sita Rania Dina
Mary Susan Linda Karen Lisa Betty Amy Jenny Kate Jane Lucy Molly Alice Rachel Laura Natalie Jessica Emily Sophie Maria Anna
Mrs._Smith Ms._Chen Mrs._Okoye Grandma Aunt_Rosa Ms._Diaz Mrs._Kim"""

NAMES = Bank([(n.replace("_", " "), g) for g, block in (("he", _HE), ("she", _SHE)) for n in block.split()], key=lambda p: p[0])

# singular/plural; a plus sign means "add s"
_OBJECTS = """apple+ orange+ banana+ pear+ peach/peaches plum+ mango/mangoes lemon+ lime+ grape+ cherry/cherries strawberry/strawberries
blueberry/blueberries melon+ coconut+ fig+ walnut+ almond+ cookie+ cupcake+ muffin+ candy/candies lollipop+ chocolate+ cake+ pie+ pretzel+
sandwich/sandwiches bagel+ pancake+ donut+ egg+ carrot+ potato/potatoes tomato/tomatoes onion+ pumpkin+ cucumber+ marble+ sticker+ stamp+
coin+ card+ bead+ button+ ribbon+ balloon+ kite+ toy+ doll+ ball+ block+ puzzle+ book+ notebook+ comic+ magazine+ pencil+ pen+ crayon+ marker+
eraser+ ruler+ brush/brushes poster+ postcard+ letter+ photo+ painting+ flower+ rose+ tulip+ daisy/daisies seed+ leaf/leaves shell+ stone+
pebble+ feather+ acorn+ pinecone+ fish/fish goldfish/goldfish duck+ chicken+ rabbit+ kitten+ puppy/puppies frog+ bird+ butterfly/butterflies
chair+ table+ lamp+ cup+ plate+ bowl+ spoon+ fork+ bottle+ jar+ candle+ key+ hat+ scarf/scarves glove+ sock+ shirt+ badge+ medal+ ticket+ token+
bolt+ nail+ screw+ brick+ tile+ plank+ rope+ tyre/tyres battery/batteries lightbulb+ cable+ screen+ robot+ drum+ flute+ whistle+ bell+ flag+
cactus/cacti seedling+ bulb+ sunflower+ clip+ envelope+ folder+ map+ ticket+ bracelet+ necklace+ ring+ gem+ crystal+ shield+ arrow+ dumpling+
taco+ noodle_bowl+ rice_cake+ gummy_bear+ toy_car+ paper_clip+ water_bottle+ baseball_card+ tennis_ball+ trading_card+
paper_plane+ ice_cube+ glass_bead+ sea_shell+ hair_clip+ paper_crane+ board_game+ fruit_bar+ juice_box/juice_boxes"""


def _pair(word: str) -> tuple[str, str]:
    word = word.replace("_", " ")
    if word.endswith("+"):
        return word[:-1], word[:-1] + "s"
    one, many = word.split("/")
    return one, many


OBJECTS = Bank([_pair(w) for w in dict.fromkeys(_OBJECTS.split())], key=lambda p: p[0])
ADJECTIVES = Bank("red blue green yellow big small old new shiny wooden plastic striped purple orange silver golden tiny round white black used".split())
CONTAINERS = Bank([_pair(w) for w in """box/boxes bag+ pack+ basket+ jar+ packet+ crate+ carton+ tray+ bucket+ tin+ case+ sack+ pouch/pouches
bundle+ set+ drawer+ shelf/shelves bin+ chest+ container+ tub+ parcel+ package+ bunch/bunches""".split()], key=lambda p: p[0])
PLACES = Bank([p.strip() for p in """the shop, the market, the park, the school, the library, the farm, the store, the fair, the bakery, the garden,
the beach, the museum, the supermarket, the zoo, the station, the gym, the playground, a toy shop, the village shop, the flea market""".replace("\n", " ").split(",")])
PEOPLE = Bank([p.strip() for p in """a friend, a neighbour, {his} brother, {his} sister, {his} cousin, {his} mother, {his} father, a classmate,
{his} best friend, {his} teacher, {his} aunt, {his} uncle, {his} grandmother, a stranger, {his} team, {his} little brother, {his} neighbor""".replace("\n", " ").split(",")])
DAYS = Bank("Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(), shared=True)
CURRENCIES = Bank(["$", "$", "$", "dollars", "dollars", "euros", "€", "£", "coins", "pounds"], shared=True)

_SYLLABLES = "ba be bi bo da de do fa fi ga go ka ke ki ko la le li lo lu ma me mi mo na ne ni no pa pe po ra re ri ro sa se so ta te ti to va vi za zo dra fle gri plo sna tro zel wim quo yan chu she bral".split()
_HELD_SYLLABLES = "bu cu du fu gu hu ju nu pu ru su tu vu xa xe wo wa we ja jo ha hi ho bri cla dwe gle kro pru sto ske thu vre yil zim".split()


def made_up(rng: random.Random, split: str) -> str:
    """A pronounceable word that means nothing, so that no model can rely on known nouns."""
    pool = _HELD_SYLLABLES if split == "heldout" else _SYLLABLES
    word = "".join(rng.choice(pool) for _ in range(2 if rng.random() < 0.7 else 3))
    return word + rng.choice(("", "", "n", "r", "l", "m", "k", "t", "x" if split == "heldout" else "p"))


def name(rng: random.Random, split: str) -> tuple[str, str]:
    """A name and its pronoun ('he' or 'she')."""
    if rng.random() < 0.12:
        return made_up(rng, split).capitalize(), "he" if rng.random() < 0.5 else "she"
    return NAMES.pick(rng, split)


def thing(rng: random.Random, split: str) -> tuple[str, str]:
    """A countable object, singular and plural."""
    if rng.random() < 0.1:
        word = made_up(rng, split)
        return word, word + ("es" if word[-1] in "sx" else "s")
    one, many = OBJECTS.pick(rng, split)
    if rng.random() < 0.08 and " " not in one:
        adj = ADJECTIVES.pick(rng, split)
        if not one.startswith(adj):
            return f"{adj} {one}", f"{adj} {many}"
    return one, many


_PRONOUNS = {"he": ("he", "his", "him"), "she": ("she", "her", "her")}


def cast(rng: random.Random, split: str) -> dict[str, str]:
    """Slots for three different people, two different objects, a container, a place and a second person."""
    slots: dict[str, str] = {}
    taken: set[str] = set()
    for i, tag in enumerate(("N", "M", "K")):
        n, g = name(rng, split)
        while n in taken:
            n, g = name(rng, split)
        taken.add(n)
        slots[tag] = n
        if i == 0:
            he, his, him = _PRONOUNS[g]
            slots.update(he=he, He=he.capitalize(), his=his, him=him, His=his.capitalize())
    one, many = thing(rng, split)
    one2, many2 = thing(rng, split)
    while many2 == many or many2 in many or many in many2:
        one2, many2 = thing(rng, split)
    box, boxes = CONTAINERS.pick(rng, split)
    while box in one or one in box or box in one2 or one2 in box:
        box, boxes = CONTAINERS.pick(rng, split)
    box2, boxes2 = CONTAINERS.pick(rng, split)
    while box2 == box or box2 in one or one in box2 or box2 in one2 or one2 in box2:
        box2, boxes2 = CONTAINERS.pick(rng, split)
    slots.update(o1=one, o=many, p1=one2, p=many2, box=box, boxes=boxes, bag=box2, bags=boxes2,
                 place=PLACES.pick(rng, split), day=DAYS.pick(rng, split))
    u = rng.random()
    if u < 0.05:  # told in the first person
        slots.update(N="I", he="I", He="I", his="my", His="My", him="me")
    elif u < 0.08:
        slots.update(N="you", he="you", He="You", his="your", His="Your", him="you")
    slots["who"] = PEOPLE.pick(rng, split).replace("{his}", slots["his"])
    return slots


_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()


_PLAIN = {"has": "have", "is": "are", "does": "do", "goes": "go", "was": "were", "tries": "try", "carries": "carry", "multiplies": "multiply"}
_PERSON = re.compile(r"\b(I|[Yy]ou) ((?:also|then|still|now|already|each|simply|ends up|trades and) )?([a-z]+s)\b")


_SENTENCE = re.compile(r"(?:^|(?<=[.?!] ))(?:\w+ ?\w*, )?(?:I|[Yy]ou|Each time I|If I|If you) [^.?!]*")
_SECOND = re.compile(r"((?:, |and |but |then )+)(works|spends|buys|gives|gets|opens|shares|has|eats|hides|fills|takes|puts|uses|adds|deletes|earns|pays|"
                     r"sells|wins|loses|breaks|drops|packs|rides|goes|drives|throws|makes|hands|plants|leaves|saves|hits|subtracts|adds|multiplies|picks|finds|trades|borrows|collects|receives|serves|drinks|walks|reads|wants|pours|does|is)\b")


def conjugate(text: str, person: str) -> str:
    """Fit the verbs of a text written for 'he' to 'I' or 'you'."""
    def verb(m):
        who, between, word = m.group(1), m.group(2) or "", m.group(3)
        if word == "is" and who == "I":
            return f"I {between}am"
        if word in ("as", "was", "this", "its", "less", "points", "boxes") and not (word == "was" and who != "I"):
            return m.group()
        plain = _PLAIN.get(word) or (word[:-2] if word.endswith(("ches", "shes", "sses")) else word[:-1])
        return f"{who} {between.replace('ends', 'end').replace('trades', 'trade')}{plain}"

    text = _PERSON.sub(verb, text)
    text = _SENTENCE.sub(lambda m: _SECOND.sub(lambda v: v.group(1) + (_PLAIN.get(v.group(2)) or v.group(2)[:-1]), m.group()), text)
    text = re.sub(r"\bdoes (I|you)\b", r"do \1", text)
    text = re.sub(r"\bDoes (I|you)\b", r"Do \1", text)
    text = re.sub(r"\bhas (I|you)\b", r"have \1", text)
    text = re.sub(r"\band now has\b", "and now have", text)
    return re.sub(r"\bI's\b", "my", text) if person == "I" else re.sub(r"\b([Yy])ou's\b", r"\1our", text)


NUMBER_WORDS = _ONES + _TENS[2:]


def spelled(n: int) -> str:
    """A number below 100 in words."""
    if n < 20:
        return _ONES[n]
    return _TENS[n // 10] + ("-" + _ONES[n % 10] if n % 10 else "")


def times_word(n: int, rng: random.Random) -> str:
    """'twice', 'three times', '4 times'."""
    if n == 2:
        return "twice" if rng.random() < 0.8 else "two times" if rng.random() < 0.5 else "2 times"
    return (spelled(n) if rng.random() < 0.5 and n <= 12 else str(n)) + " times"
