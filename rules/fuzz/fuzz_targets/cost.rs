//! Searches for the most costly pairs: hill-climbing on processor time or on memory over the grammar of `cost_grammar.txt`.
//!
//! Runs on stable Rust, without cargo-fuzz; libFuzzer maximises coverage and knows no other objective.
//!
//! ```sh
//! cargo run --release --bin cost -- --seconds 3600 --seed 1 --keep worst.jsonl
//! cargo run --release --bin cost -- --replay worst.jsonl
//! ```
//!
//! A climb begins with a random pair of derivations, or with one kept by an earlier climb, and accepts each mutation that
//! does not lower the objective. It ends with status 1 where a pair took more than `--milliseconds` of the thread's
//! processor time (50) or more than `--megabytes` above what was allocated before it (64). The same seed tries the same
//! pairs as long as the measured times agree.

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::HashMap;
use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use juror_rules::{Config, OutcomeRules, Profile, RulesProfile, Verifier};

/// Counts the bytes that are allocated.
struct Counting;

static ALLOCATED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = ALLOCATED.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(now, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const GRAMMAR: &str = include_str!("cost_grammar.txt");
/// Bytes of one side, at most.
const LONGEST: usize = 10_000;
const JOINTS: [&str; 12] = [
    "", " ", "+", ",", ", ", "=", "-", "<", "\n", r"\cdot ", " and ", "*",
];
/// Climbs end after so many mutations without gain.
const PATIENCE: usize = 120;
/// Pairs that are kept for each profile and objective.
const KEPT: usize = 12;

/// One line of the grammar: what it is, and its text in pieces between the parts it holds.
struct Rule {
    sort: char,
    pieces: Vec<&'static str>,
    parts: Vec<char>,
}

fn grammar() -> Vec<Rule> {
    let lines = GRAMMAR
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
struct Node {
    rule: usize,
    parts: Vec<Node>,
    count: usize,
    joint: usize,
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ (word >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }
}

struct Search {
    rules: Vec<Rule>,
    by_sort: HashMap<char, Vec<usize>>,
    random: Random,
}

impl Search {
    fn new(seed: u64) -> Self {
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
    fn node(&mut self, sort: char, depth: usize) -> Node {
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

    fn text(&self, node: &Node) -> Option<String> {
        let mut out = String::new();
        self.write(node, &mut out).then_some(out)
    }

    fn mutate(&mut self, pair: &mut [Node; 2], others: &[Kept]) {
        let side = self.random.below(2);
        match self.random.below(16) {
            0 => pair.swap(0, 1),
            1 => pair[side] = pair[1 - side].clone(),
            2 => pair[side] = self.node('R', 0),
            _ => {}
        }
        let size = size(&pair[side]);
        let from = part(&mut pair[side], self.random.below(size)).clone();
        let donor = match self.random.below(3) {
            0 if !others.is_empty() => {
                let at = self.random.below(others.len());
                let mut other = others[at].pair[self.random.below(2)].clone();
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

/// What one verification took.
#[derive(Clone, Copy, Default)]
struct Cost {
    milliseconds: f64,
    megabytes: f64,
}

fn processor_time() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

const PROFILES: [RulesProfile; 3] = [
    RulesProfile::Strict,
    RulesProfile::Compat,
    RulesProfile::Gsm8k,
];

/// Milliseconds since the program began at which the pair under way began, for [`watch`]; 0: none.
static SINCE: AtomicU64 = AtomicU64::new(0);
static UNDER_WAY: Mutex<String> = Mutex::new(String::new());

fn measure(profile: RulesProfile, gold: &str, pred: &str, started: Instant) -> Cost {
    *UNDER_WAY.lock().unwrap() = line(profile, Cost::default(), gold, pred);
    SINCE.store(1 + started.elapsed().as_millis() as u64, Ordering::Relaxed);
    let before = ALLOCATED.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let from = processor_time();
    match profile {
        RulesProfile::Strict => {
            drop(Verifier::new(Profile::Strict, Config::default()).verify(gold, pred))
        }
        RulesProfile::Compat => {
            drop(Verifier::new(Profile::Compat, Config::default()).verify(gold, pred))
        }
        other => drop(OutcomeRules::new(other, Config::default()).verify(gold, pred)),
    }
    let milliseconds = processor_time() - from;
    SINCE.store(0, Ordering::Relaxed);
    let megabytes = (PEAK.load(Ordering::Relaxed).saturating_sub(before)) as f64 / 1e6;
    Cost {
        milliseconds,
        megabytes,
    }
}

/// The least of several: another process may have emptied the caches.
fn measure_again(profile: RulesProfile, gold: &str, pred: &str, started: Instant) -> Cost {
    let costs = (0..4).map(|_| measure(profile, gold, pred, started));
    costs
        .reduce(|a, b| Cost {
            milliseconds: a.milliseconds.min(b.milliseconds),
            ..b
        })
        .unwrap_or_default()
}

fn line(profile: RulesProfile, cost: Cost, gold: &str, pred: &str) -> String {
    serde_json::json!({
        "profile": profile.as_str(),
        "milliseconds": (cost.milliseconds * 100.0).round() / 100.0,
        "megabytes": (cost.megabytes * 100.0).round() / 100.0,
        "gold": gold,
        "pred": pred,
    })
    .to_string()
}

/// A climb's result.
struct Kept {
    pair: [Node; 2],
    texts: [String; 2],
    cost: Cost,
    profile: RulesProfile,
}

struct Options {
    seconds: u64,
    seed: u64,
    keep: Option<String>,
    replay: Option<String>,
    limit: Cost,
}

fn options() -> Options {
    let mut options = Options {
        seconds: 60,
        seed: 1,
        keep: None,
        replay: None,
        limit: Cost {
            milliseconds: 50.0,
            megabytes: 64.0,
        },
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments
            .next()
            .unwrap_or_else(|| panic!("{name} needs a value"));
        let number = || {
            value
                .parse::<u64>()
                .unwrap_or_else(|_| panic!("{name} {value}: no number"))
        };
        match name.as_str() {
            "--seconds" => options.seconds = number(),
            "--seed" => options.seed = number(),
            "--milliseconds" => options.limit.milliseconds = number() as f64,
            "--megabytes" => options.limit.megabytes = number() as f64,
            "--keep" => options.keep = Some(value),
            "--replay" => options.replay = Some(value),
            _ => panic!("no option {name}"),
        }
    }
    options
}

fn main() {
    let started = Instant::now();
    // Worker threads have small stacks: a search on one finds overflows too.
    let builder = std::thread::Builder::new().stack_size(2 << 20);
    let search = builder
        .spawn(move || run(&options(), started))
        .expect("a thread");
    while !search.is_finished() {
        std::thread::sleep(Duration::from_millis(50));
        let since = SINCE.load(Ordering::Relaxed);
        if since > 0 && started.elapsed().as_millis() as u64 > since + 20_000 {
            std::process::exit(end("takes more than 20 seconds"));
        }
    }
    std::process::exit(search.join().unwrap_or_else(|_| end("panicked")));
}

/// Leaves the pair under way where it can be replayed.
fn end(why: &str) -> i32 {
    let path = "cost-failed.jsonl";
    std::fs::write(path, UNDER_WAY.lock().unwrap().as_str()).expect("a file to write");
    println!("a pair {why}: see {path}");
    1
}

fn run(options: &Options, started: Instant) -> i32 {
    // What is compiled once, at first use.
    for profile in PROFILES {
        measure(
            profile,
            r"The answer is $\frac{1}{2}$ cm",
            r"So \boxed{x = 1, y \in (1,2]} 0.5 kg",
            started,
        );
    }
    let worst = match &options.replay {
        Some(path) => return replay(path, options, started),
        None => search(options, started),
    };
    let mut file = options
        .keep
        .as_ref()
        .map(|path| std::fs::File::create(path).expect("a file to write"));
    let mut most = Cost::default();
    for kept in &worst {
        let [gold, pred] = &kept.texts;
        let cost = measure_again(kept.profile, gold, pred, started);
        most.milliseconds = most.milliseconds.max(cost.milliseconds);
        most.megabytes = most.megabytes.max(cost.megabytes);
        if let Some(file) = &mut file {
            writeln!(file, "{}", line(kept.profile, cost, gold, pred)).expect("room to write");
        }
    }
    report(most, options)
}

fn report(most: Cost, options: &Options) -> i32 {
    println!(
        "worst: {:.1} ms, {:.1} MB",
        most.milliseconds, most.megabytes
    );
    i32::from(
        most.milliseconds > options.limit.milliseconds || most.megabytes > options.limit.megabytes,
    )
}

/// Measures the pairs of a file again.
fn replay(path: &str, options: &Options, started: Instant) -> i32 {
    let text = std::fs::read_to_string(path).expect("a file of pairs");
    let mut most = Cost::default();
    for row in text.lines() {
        let row: serde_json::Value = serde_json::from_str(row).expect("a pair");
        let field = |name: &str| row[name].as_str().unwrap_or_default();
        for profile in PROFILES
            .into_iter()
            .filter(|profile| ["", profile.as_str()].contains(&field("profile")))
        {
            let cost = measure_again(profile, field("gold"), field("pred"), started);
            most.milliseconds = most.milliseconds.max(cost.milliseconds);
            most.megabytes = most.megabytes.max(cost.megabytes);
            let begin = |name: &str| field(name).chars().take(60).collect::<String>();
            println!(
                "{:7.1} ms {:6.1} MB {profile:6} {} | {}",
                cost.milliseconds,
                cost.megabytes,
                begin("gold"),
                begin("pred")
            );
        }
    }
    report(most, options)
}

/// The worst pairs of each profile, by time and by memory.
fn search(options: &Options, started: Instant) -> Vec<Kept> {
    let mut search = Search::new(options.seed);
    let mut kept: Vec<Vec<Kept>> = (0..2 * PROFILES.len()).map(|_| Vec::new()).collect();
    let (mut climb, mut pairs, mut said) = (0, 0u64, Instant::now());
    while started.elapsed().as_secs() < options.seconds {
        // The last profile is simple: it gets one climb in nine.
        let which = [0, 1, 0, 1, 0, 1, 0, 1, 2][climb % 9];
        let by_memory = climb / 9 % 4 == 3;
        climb += 1;
        let profile = PROFILES[which];
        let list = 2 * which + usize::from(by_memory);
        let score = |cost: Cost| {
            if by_memory {
                cost.megabytes
            } else {
                cost.milliseconds
            }
        };
        let mut pair = match kept[list].len() {
            0 => [search.node('R', 0), search.node('R', 0)],
            _ if !search.random.one_in(3) => [search.node('R', 0), search.node('R', 0)],
            size => kept[list][search.random.below(size)].pair.clone(),
        };
        let mut best: Option<([String; 2], Cost)> = None;
        let mut since = 0;
        while since < PATIENCE && started.elapsed().as_secs() < options.seconds {
            since += 1;
            let mut next = pair.clone();
            if best.is_some() {
                for _ in 0..1 + search.random.below(3) {
                    search.mutate(&mut next, &kept[list]);
                }
            }
            let (Some(gold), Some(pred)) = (search.text(&next[0]), search.text(&next[1])) else {
                continue;
            };
            pairs += 1;
            let mut cost = measure(profile, &gold, &pred, started);
            let least = best.as_ref().map_or(-1.0, |(_, cost)| score(*cost));
            if score(cost) > least && cost.milliseconds < 500.0 {
                cost = measure_again(profile, &gold, &pred, started);
            }
            if score(cost) >= least {
                since = if score(cost) > 1.02 * least { 0 } else { since };
                pair = next;
                best = Some(([gold, pred], cost));
            }
        }
        let Some((texts, cost)) = best else { continue };
        let list = &mut kept[list];
        list.push(Kept {
            pair,
            texts,
            cost,
            profile,
        });
        list.sort_by(|a, b| score(b.cost).total_cmp(&score(a.cost)));
        list.dedup_by(|a, b| a.texts == b.texts);
        list.truncate(KEPT);
        if said.elapsed() > Duration::from_secs(30) {
            said = Instant::now();
            let of = |index: usize| {
                kept[index]
                    .first()
                    .map(|kept| kept.cost)
                    .unwrap_or_default()
            };
            println!(
                "{:5} s, {climb} climbs, {pairs} pairs: strict {:.1} ms {:.1} MB, compat {:.1} ms {:.1} MB, gsm8k {:.1} ms {:.1} MB",
                started.elapsed().as_secs(),
                of(0).milliseconds,
                of(1).megabytes,
                of(2).milliseconds,
                of(3).megabytes,
                of(4).milliseconds,
                of(5).megabytes,
            );
        }
    }
    println!("{} seconds, {climb} climbs, {pairs} pairs", options.seconds);
    kept.into_iter().flatten().collect()
}
