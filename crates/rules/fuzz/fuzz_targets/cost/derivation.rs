//! Texts as derivations of the grammar in `grammar.txt`, and random changes of them.

use std::collections::HashMap;

/// Bytes of one side, at most.
const LONGEST: usize = 10_000;
const JOINTS: [&str; 12] = [
    "", " ", "+", ",", ", ", "=", "-", "<", "\n", r"\cdot ", " and ", "*",
];
/// One line of the grammar: what it is, and its text in pieces between the parts it holds.
struct Rule {
    sort: char,
    pieces: Vec<&'static str>,
    parts: Vec<char>,
}

fn grammar() -> Vec<Rule> {
    let lines = include_str!("grammar.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("//"));
    lines
        .map(|line| {
            let (sort, text) = line.split_at(1);
            let mut split = text[1..].split('@');
            let mut rule = Rule {
                sort: sort.chars().next().unwrap(),
                pieces: vec![split.next().unwrap()],
                parts: Vec::new(),
            };
            for piece in split {
                rule.parts
                    .push(piece.chars().next().expect("a sort follows @"));
                rule.pieces.push(&piece[1..]);
            }
            rule
        })
        .collect()
}

/// A derivation: a rule, its parts, and how often the whole stands one after another.
#[derive(Clone)]
pub struct Node {
    rule: usize,
    parts: Vec<Node>,
    count: usize,
    joint: usize,
}

/// The two sides of a pair.
pub type Pair = [Node; 2];

/// SplitMix64.
pub struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ (word >> 31)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }
}

/// Random derivations.
pub struct Derivations {
    rules: Vec<Rule>,
    by_sort: HashMap<char, Vec<usize>>,
    pub random: Random,
}

impl Derivations {
    pub fn new(seed: u64) -> Self {
        let rules = grammar();
        let mut by_sort: HashMap<char, Vec<usize>> = HashMap::new();
        for (index, rule) in rules.iter().enumerate() {
            by_sort.entry(rule.sort).or_default().push(index);
        }
        Self {
            rules,
            by_sort,
            random: Random(seed),
        }
    }

    /// A random derivation of a sort; now and then of any other.
    pub fn node(&mut self, sort: char, depth: usize) -> Node {
        let rule = if self.random.one_in(25) {
            self.random.below(self.rules.len())
        } else {
            let choices = &self.by_sort[&sort];
            let mut rule = choices[self.random.below(choices.len())];
            // Deep down, the shortest of a few.
            for _ in 0..depth {
                let other = choices[self.random.below(choices.len())];
                if self.rules[other].parts.len() < self.rules[rule].parts.len() {
                    rule = other;
                }
            }
            rule
        };
        let parts = self.rules[rule].parts.clone();
        let parts = if depth > 8 { Vec::new() } else { parts };
        Node {
            rule,
            parts: parts
                .into_iter()
                .map(|sort| self.node(sort, depth + 1))
                .collect(),
            count: self.count(),
            joint: self.random.below(JOINTS.len()),
        }
    }

    fn count(&mut self) -> usize {
        match self.random.below(12) {
            0 => 2 + self.random.below(8),
            1 => 10 + self.random.below(200),
            _ => 1,
        }
    }

    /// Appends the text of a node; false where it is too long.
    fn write(&self, node: &Node, out: &mut String) -> bool {
        let from = out.len();
        let rule = &self.rules[node.rule];
        for (index, piece) in rule.pieces.iter().enumerate() {
            out.push_str(piece);
            if index < rule.parts.len()
                && !node
                    .parts
                    .get(index)
                    .is_none_or(|part| self.write(part, out))
            {
                return false;
            }
        }
        let one = out[from..].to_owned();
        let joint = JOINTS[node.joint];
        if out.len() + (node.count - 1) * (one.len() + joint.len()) > LONGEST {
            return false;
        }
        for _ in 1..node.count {
            out.push_str(joint);
            out.push_str(&one);
        }
        true
    }

    pub fn text(&self, node: &Node) -> Option<String> {
        let mut out = String::new();
        self.write(node, &mut out).then_some(out)
    }

    /// Changes a pair in one place; parts of `other` may be put into it.
    pub fn mutate(&mut self, pair: &mut Pair, other: Option<&Pair>) {
        let side = self.random.below(2);
        match self.random.below(16) {
            0 => pair.swap(0, 1),
            1 => pair[side] = pair[1 - side].clone(),
            2 => pair[side] = self.node('R', 0),
            _ => {}
        }
        let size = size(&pair[side]);
        let from = part(&mut pair[side], self.random.below(size)).clone();
        let donor = match (self.random.below(3), other) {
            (0, Some(other)) => {
                let mut other = other[self.random.below(2)].clone();
                let size = self::size(&other);
                part(&mut other, self.random.below(size)).clone()
            }
            _ => from,
        };
        let fresh = self.random.below(8);
        let sort = self.rules[donor.rule].sort;
        let at = self.random.below(size);
        let place = part(&mut pair[side], at);
        match fresh {
            // The same more or less often.
            0 => place.count = (place.count * 2).max(2),
            1 => place.count += 1 + self.random.below(9),
            2 => place.count = (place.count / 2).max(1),
            3 => place.joint = self.random.below(JOINTS.len()),
            // Another in its place.
            4 => *place = self.node(self.rules[place.rule].sort, 3),
            5 => *place = donor,
            // Inside another.
            6 => {
                let mut outer = self.node(sort, 6);
                let fits = self.rules[outer.rule]
                    .parts
                    .iter()
                    .position(|part| *part == sort);
                if let (Some(at), false) = (fits, outer.parts.is_empty()) {
                    outer.parts[at] = donor;
                    *place = outer;
                }
            }
            // Without what is around it.
            _ => {
                let inner = place
                    .parts
                    .iter()
                    .find(|part| self.rules[part.rule].sort == sort);
                if let Some(inner) = inner.cloned() {
                    *place = inner;
                }
            }
        }
    }
}

fn size(node: &Node) -> usize {
    1 + node.parts.iter().map(size).sum::<usize>()
}

/// The part with this number, from the top.
fn part(node: &mut Node, mut number: usize) -> &mut Node {
    if number == 0 {
        return node;
    }
    number -= 1;
    let at = node.parts.iter().position(|part| {
        let size = size(part);
        let inside = number < size;
        number -= if inside { 0 } else { size };
        inside
    });
    part(
        &mut node.parts[at.expect("a number below the size")],
        number,
    )
}
