//! Word lists: what a word means beside an answer.

/// How much of a word is looked at, in bytes: a longer one is in no list.
const MAX_WORD: usize = 64;

/// Is `word` in `list`, whatever its case?
pub(super) fn among(word: &str, list: &[&str]) -> bool {
    list.iter().any(|other| other.eq_ignore_ascii_case(word))
}

/// Functions and constants that plain maths spells out.
const FUNCTIONS: &[&str] = &[
    "sqrt", "cbrt", "root", "sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan",
    "asin", "acos", "atan", "sinh", "cosh", "tanh", "log", "ln", "lg", "exp", "pi", "theta",
    "alpha", "beta", "gamma", "lambda", "mu", "sigma", "phi", "omega", "infinity", "inf", "infty",
    "oo", "mod", "gcd", "lcm", "max", "min", "floor", "ceil", "abs", "det", "binom",
];

/// Does plain maths spell a function or a constant so?
pub(super) fn is_function(word: &str) -> bool {
    among(word, FUNCTIONS)
}

/// Units of measurement, as written; singular and plural.
const UNITS: &[&str] = &[
    "cm",
    "mm",
    "km",
    "m",
    "dm",
    "nm",
    "um",
    "μm",
    "µm",
    "pm",
    "in",
    "ft",
    "yd",
    "mi",
    "kg",
    "g",
    "mg",
    "lb",
    "lbs",
    "oz",
    "t",
    "ton",
    "tons",
    "tonne",
    "tonnes",
    "s",
    "sec",
    "secs",
    "ms",
    "ns",
    "min",
    "mins",
    "h",
    "hr",
    "hrs",
    "l",
    "ml",
    "mL",
    "L",
    "cl",
    "dl",
    "kl",
    "N",
    "kN",
    "J",
    "kJ",
    "MJ",
    "eV",
    "keV",
    "MeV",
    "GeV",
    "W",
    "kW",
    "MW",
    "GW",
    "kWh",
    "Hz",
    "kHz",
    "MHz",
    "GHz",
    "Pa",
    "kPa",
    "MPa",
    "GPa",
    "bar",
    "atm",
    "torr",
    "mmHg",
    "mol",
    "mmol",
    "moles",
    "mole",
    "K",
    "C",
    "F",
    "V",
    "kV",
    "mV",
    "A",
    "mA",
    "Ω",
    "ohm",
    "ohms",
    "T",
    "mT",
    "Wb",
    "H",
    "mH",
    "rad",
    "sr",
    "mph",
    "kph",
    "kmh",
    "kmph",
    "rpm",
    "dB",
    "ppm",
    "GB",
    "MB",
    "KB",
    "TB",
    "cal",
    "kcal",
    "Cal",
    "meter",
    "meters",
    "metre",
    "metres",
    "centimeter",
    "centimeters",
    "centimetre",
    "centimetres",
    "millimeter",
    "millimeters",
    "kilometer",
    "kilometers",
    "kilometre",
    "kilometres",
    "inch",
    "inches",
    "foot",
    "feet",
    "yard",
    "yards",
    "mile",
    "miles",
    "gram",
    "grams",
    "kilogram",
    "kilograms",
    "milligrams",
    "pound",
    "pounds",
    "ounce",
    "ounces",
    "second",
    "seconds",
    "minute",
    "minutes",
    "hour",
    "hours",
    "day",
    "days",
    "week",
    "weeks",
    "month",
    "months",
    "year",
    "years",
    "liter",
    "liters",
    "litre",
    "litres",
    "milliliters",
    "gallon",
    "gallons",
    "quart",
    "quarts",
    "pint",
    "pints",
    "cup",
    "cups",
    "joules",
    "newtons",
    "watts",
    "volts",
    "amperes",
    "amps",
    "hertz",
    "pascals",
    "kelvin",
    "kelvins",
    "radians",
    "degrees",
    "degree",
    "units",
    "unit",
    "acres",
    "acre",
    "hectares",
    "knots",
    "decades",
    "centuries",
    "am",
    "pm",
    "AM",
    "PM",
];

/// Is `word` a unit of measurement?
pub(super) fn is_unit(word: &str) -> bool {
    if word.chars().nth(2).is_none() {
        // Short ones differ by case: `m` and `M`.
        UNITS.contains(&word)
    } else {
        among(word, UNITS)
    }
}

/// Money and magnitudes.
const MAGNITUDES: &[&str] = &[
    "percent",
    "percentage",
    "pct",
    "million",
    "billion",
    "trillion",
    "thousand",
    "hundred",
    "dozen",
    "dollars",
    "dollar",
    "cents",
    "cent",
    "euros",
    "euro",
    "pounds",
    "rupees",
    "yuan",
    "yen",
    "pesos",
    "USD",
    "EUR",
];

/// Is `word` a magnitude, a percentage or money?
pub(super) fn is_magnitude(word: &str) -> bool {
    among(word, MAGNITUDES)
}

/// Words that a unit begins with.
pub(super) fn is_unit_prefix(word: &str) -> bool {
    among(
        word,
        &[
            "square", "cubic", "sq", "sq.", "cu", "cu.", "nautical", "light",
        ],
    )
}

/// Adjectives between a number and what it counts.
const ADJECTIVES: &[&str] = &[
    "more",
    "total",
    "different",
    "distinct",
    "possible",
    "such",
    "additional",
    "extra",
    "other",
    "full",
    "whole",
    "remaining",
    "new",
    "unique",
    "positive",
    "negative",
    "real",
    "integer",
    "ordered",
    "fewer",
    "less",
    "small",
    "large",
    "big",
    "red",
    "blue",
    "green",
    "white",
    "black",
    "yellow",
    "equal",
    "identical",
    "free",
    "separate",
    "single",
    "valid",
];

/// Does `word` describe what is counted, and not name it?
pub(super) fn is_adjective(word: &str) -> bool {
    among(word, ADJECTIVES)
}

/// Words that end in `s` without counting anything, and words behind a number that are no label.
const NO_LABELS: &[&str] = &[
    "is",
    "was",
    "has",
    "does",
    "as",
    "this",
    "its",
    "his",
    "us",
    "thus",
    "plus",
    "minus",
    "times",
    "equals",
    "gives",
    "makes",
    "means",
    "represents",
    "always",
    "less",
    "across",
    "versus",
    "yes",
    "unless",
    "various",
    "because",
    "and",
    "or",
    "to",
    "in",
    "on",
    "at",
    "of",
    "for",
    "from",
    "by",
    "with",
    "the",
    "a",
    "an",
    "that",
    "which",
    "when",
    "where",
    "if",
    "since",
    "so",
    "per",
    "each",
    "left",
    "are",
    "were",
    "be",
    "not",
    "but",
    "than",
    "then",
    "into",
    "over",
    "after",
    "before",
    "remains",
];

/// Plurals without an `s`.
const PLURALS: &[&str] = &[
    "people", "children", "men", "women", "sheep", "fish", "mice", "geese", "teeth", "feet",
    "oxen", "deer", "dice", "vertices", "women", "cattle",
];

/// Could `word`, behind a number, name what is counted?
pub(super) fn is_counted(word: &str) -> bool {
    !among(word, NO_LABELS)
        && ((word.len() > 3 && word.ends_with('s') && !word.ends_with("ss"))
            || among(word, PLURALS))
}

/// Can `word` be no label at all?
pub(super) fn is_no_label(word: &str) -> bool {
    among(word, NO_LABELS)
}

/// Numbers in words.
const NUMBERS: &[&str] = &[
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
    "thirty",
    "forty",
    "fifty",
    "sixty",
    "seventy",
    "eighty",
    "ninety",
    "hundred",
    "thousand",
    "million",
    "billion",
    "half",
    "dozen",
];

/// Is `word` a number, or several joined by hyphens?
pub(super) fn is_number_word(word: &str) -> bool {
    word.split('-').all(|part| among(part, NUMBERS))
}

/// Words that open a clause which does not state the answer.
pub(super) fn is_subordinating(word: &str) -> bool {
    among(
        word,
        &[
            "because",
            "since",
            "when",
            "where",
            "if",
            "assuming",
            "given",
            "which",
            "while",
            "whereas",
            "after",
            "provided",
            "although",
            "though",
            "unless",
            "once",
            "whenever",
            "considering",
            "due",
            "using",
        ],
    )
}

/// Words after which a sentence states its result anew.
pub(super) fn is_concluding(word: &str) -> bool {
    among(
        word,
        &[
            "so",
            "therefore",
            "thus",
            "hence",
            "then",
            "giving",
            "meaning",
            "making",
            "yielding",
            "namely",
            "gives",
            "yields",
            "means",
            "implies",
            "becomes",
        ],
    )
}

/// Words before a number that is not what the sentence states.
pub(super) fn is_preposition(word: &str) -> bool {
    among(
        word,
        &[
            "for",
            "in",
            "after",
            "of",
            "with",
            "from",
            "at",
            "within",
            "by",
            "on",
            "than",
            "per",
            "during",
            "before",
            "until",
            "since",
            "among",
            "under",
            "over",
            "through",
            "into",
            "every",
            "each",
            "modulo",
            "base",
            "all",
            "these",
            "those",
            "the",
            "divisible",
        ],
    )
}

/// Words before a number that make it a name.
pub(super) fn is_numbered(word: &str) -> bool {
    among(
        word,
        &[
            "step",
            "steps",
            "part",
            "question",
            "problem",
            "equation",
            "case",
            "example",
            "figure",
            "fig",
            "table",
            "section",
            "chapter",
            "page",
            "year",
            "eq",
            "no",
            "method",
            "option",
            "number:",
            "january",
            "february",
            "march",
            "april",
            "may",
            "june",
            "july",
            "august",
            "september",
            "october",
            "november",
            "december",
            "exercise",
            "line",
            "item",
            "theorem",
            "lemma",
            "formula",
            "grade",
            "level",
        ],
    )
}

/// The word that ends at the end of `text`.
pub(super) fn last_word(text: &str) -> &str {
    let text = text.trim_end_matches([' ', '\t', '*', '_', '(', '"', '`', ':', ',', '~']);
    let text = &text[text.ceil_char_boundary(text.len().saturating_sub(MAX_WORD))..];
    let start = text
        .rfind(|character: char| !(character.is_alphabetic() || character == '\''))
        .map_or(0, |at| {
            at + text[at..].chars().next().map_or(1, char::len_utf8)
        });
    &text[start..]
}

/// The word at the beginning of `text`; empty if it begins with something else.
pub(super) fn first_word(text: &str) -> &str {
    let text = &text[..text.floor_char_boundary(MAX_WORD)];
    let length = text
        .find(|character: char| !(character.is_alphabetic() || character == '\''))
        .unwrap_or(text.len());
    &text[..length]
}

/// The letters and hyphens that `text` begins with, at most `length` bytes.
pub(super) fn hyphenated(text: &str, length: usize) -> &str {
    let text = &text[..length];
    let end = text
        .find(|it: char| !(it.is_ascii_alphabetic() || it == '-'))
        .unwrap_or(text.len());
    text[..end].trim_end_matches('-')
}

/// Functions that are written with a blank before their argument: "ln 8".
pub(super) fn takes_argument(word: &str) -> bool {
    among(
        word,
        &[
            "sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "ln", "log",
            "sqrt",
        ],
    )
}
