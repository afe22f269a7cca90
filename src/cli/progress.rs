//! A run's progress bar and summary.

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use console::{Term, measure_text_width, style};
use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::work::Work;
use super::{counted, say, say_labelled};
use juror_base::terminal::escaped;
use juror_data::verdict::Status;
use juror_judge::judge::{Share, Summary};

/// How often a line says how far a run is where there is no terminal for a bar.
const LINE_EVERY: Duration = Duration::from_mins(1);

/// Columns of the bar itself.
const BAR: usize = 20;

const STEPS: f64 = 1000.0;

/// A bar on standard error, if that is a terminal; else a line a minute.
pub(super) struct Progress {
    bar: ProgressBar,
    lines: Lines,
    all: usize,
    work: Option<Work>,
}

/// A bar of this template on standard error; nothing is drawn where that is no terminal, or messages are not wanted.
pub(super) fn bar(all: Option<u64>, quiet: bool, template: &str) -> ProgressBar {
    let target = if quiet {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr_with_hz(5)
    };
    let bar = ProgressBar::with_draw_target(all, target);
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}

/// Lines that say how far a run is, where standard error is no terminal and messages are wanted.
pub(super) struct Lines {
    /// When the last was due; `None` where there are none.
    last: Option<Instant>,
}

impl Lines {
    pub(super) fn new(quiet: bool) -> Self {
        let wanted = !quiet && !std::io::stderr().is_terminal();
        Self {
            last: wanted.then(Instant::now),
        }
    }

    /// Whether a line is due; if so the next one is a minute later.
    pub(super) fn due(&mut self, now: Instant) -> bool {
        let due = self
            .last
            .is_some_and(|last| now.duration_since(last) >= LINE_EVERY);
        if due {
            self.last = Some(now);
        }
        due
    }

    pub(super) fn say(&mut self, text: &str) {
        if self.due(Instant::now()) {
            say(text);
        }
    }
}

impl Progress {
    /// A bar of a run of `all` verdicts, and what is known of its work.
    pub(super) fn new(all: usize, quiet: bool, work: Option<Work>) -> Self {
        let template = format!("{{prefix}} {{bar:{BAR}.cyan/dim}} {{wide_msg}}");
        let bar = bar(Some(STEPS as u64), quiet, &template);
        bar.set_prefix(format!("0/{all}"));
        bar.set_message("loading the model");
        bar.tick();
        let lines = Lines::new(quiet);
        Self {
            bar,
            lines,
            all,
            work,
        }
    }

    pub(super) fn update(&mut self, summary: &Summary) {
        if summary.sizes.is_none() && summary.loaded > 0.0 {
            let loaded = format!("loading the model: {:.0} %", 100.0 * summary.loaded);
            self.lines.say(&loaded);
            self.bar.set_message(loaded);
            return;
        }
        let seconds = summary.elapsed.as_secs_f64().max(1e-9);
        let engine = &summary.engine;
        let judged = summary.verdicts() - summary.resumed;
        let rate = judged as f64 / seconds;
        let cached = percent(engine.cached_tokens as usize, engine.prompt_tokens as usize);
        let (done, all) = (summary.verdicts(), self.all);
        let now = Work::progressed(self.work.as_ref(), all, summary);
        let mut parts = Vec::new();
        parts.extend(now.reading.map(|(read, prompts)| {
            let [read, prompts] = [read, prompts].map(|tokens| HumanCount(tokens as u64));
            format!("reading prompts: {read} of {prompts} tokens")
        }));
        parts.extend(now.left.map(|left| format!("{} left", HumanDuration(left))));
        if judged > 0 {
            parts.push(format!("{rate:.1} verdicts/s"));
        }
        if engine.prompt_tokens > 0 {
            let tokens = HumanCount((engine.computed_tokens as f64 / seconds) as u64);
            parts.push(format!("{tokens} tokens/s"));
            parts.push(format!("cache {cached}"));
        }
        let all_parts = parts.join(" · ");
        self.lines
            .say(&format!("{done} of {all} verdicts · {all_parts}"));
        self.bar.set_prefix(format!("{done}/{all}"));
        let columns = usize::from(Term::stderr().size().1);
        let taken = format!("{done}/{all}  ").len() + BAR;
        self.bar.set_position((now.share * STEPS) as u64);
        self.bar
            .set_message(fitting(&parts, columns.saturating_sub(taken)));
    }

    /// Writes a line above the bar.
    pub(super) fn say(&self, line: &str) {
        self.bar.suspend(|| say(line));
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// How far a measurement is, by the tokens it has generated: a bar on standard error, if that is a terminal; else a line a minute.
pub(super) struct RunProgress {
    bar: ProgressBar,
    lines: Lines,
    name: String,
}

impl RunProgress {
    pub(super) fn new(name: String, all: u64) -> Self {
        let template = "{msg} · {percent} % · {eta} left {wide_bar:.cyan/dim}";
        let bar = bar(Some(all), false, template);
        bar.set_message(name.clone());
        Self {
            bar,
            lines: Lines::new(false),
            name,
        }
    }

    pub(super) fn update(&mut self, done: u64) {
        self.bar.set_position(done);
        let (name, all) = (&self.name, self.bar.length().unwrap_or(0));
        let line = format!("{name}: {done} of {all} tokens generated");
        self.lines.say(&line);
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// As many of the first parts as there are columns for.
fn fitting(parts: &[String], columns: usize) -> String {
    let mut text = String::new();
    for part in parts {
        let dot = if text.is_empty() { "" } else { " · " };
        let longer = format!("{text}{dot}{part}");
        if measure_text_width(&longer) > columns && !text.is_empty() {
            break;
        }
        text = longer;
    }
    text
}

/// A share in percent; a dash where the whole is 0.
pub(super) fn percent(part: usize, whole: usize) -> String {
    if whole == 0 {
        "–".to_owned()
    } else {
        format!("{:.1} %", 100.0 * part as f64 / whole as f64)
    }
}

/// How many verdicts there are of each status.
pub(super) fn counts(summary: &Summary) -> String {
    let ok = summary.count(Status::Ok);
    let mut verdicts = format!("{} ({ok} ok", HumanCount(summary.verdicts() as u64));
    for status in Status::ALL
        .into_iter()
        .filter(|status| *status != Status::Ok)
    {
        let count = summary.count(status);
        if count > 0 {
            let _ = write!(verdicts, ", {count} {}", status.words());
            if status == Status::OutOfDomain && summary.not_sure > 0 {
                let _ = write!(verdicts, " ({} of them not sure)", summary.not_sure);
            }
        }
    }
    verdicts.push(')');
    verdicts
}

/// What is known of a run, by name.
type Rows = Vec<(&'static str, String)>;

pub(super) fn print_summary(summary: &Summary) {
    let mut rows = vec![("verdicts", counts(summary))];
    truths(summary, &mut rows);
    rewards(summary, &mut rows);
    sources(summary, &mut rows);
    costs(summary, &mut rows);
    for (name, value) in rows {
        let name = format!("{name:>13} ");
        say_labelled(&style(name.as_str()).for_stderr().bold(), &value);
    }
}

/// How many responses are right.
fn truths(summary: &Summary, rows: &mut Rows) {
    let mut add = |name, text| rows.push((name, text));
    let judged = summary.process.known > 0;
    for (name, Share { count, known }) in [
        ("process", summary.process),
        ("outcome", summary.outcome),
        ("overall", summary.overall),
    ] {
        // Rules alone know the outcome, and the rest only where it follows from a wrong one.
        if judged || (name == "outcome" && known > 0) {
            let share = percent(count, known);
            add(name, format!("{share} true ({count} of {known})"));
        }
    }
    if judged && summary.right_outcomes > 0 {
        let (refused, all) = (summary.lucky_guesses, summary.right_outcomes);
        let share = percent(refused, all);
        let why = match summary.likely_lucky() {
            Some(lucky) => {
                format!("by this judge's measured errors about {lucky:.0} of them lucky guesses")
            }
            None => "lucky guesses, and the judge's errors".to_owned(),
        };
        let text = format!("{refused} of {all} refused for their derivation ({share}): {why}");
        add("right results", text);
    }
}

fn rewards(summary: &Summary, rows: &mut Rows) {
    let mut add = |name, text| rows.push((name, text));
    let mean = match summary.mean_reward() {
        Some(mean) => format!("{mean:.3} over {}", summary.rewards.0),
        None if summary.count(Status::Ok) == 0 => "–".into(),
        None => "– (the process is not known)".into(),
    };
    add("mean reward", mean);
    if !summary.criteria.is_empty() {
        let means = summary.criteria.iter();
        let means: Vec<String> = means
            .map(|(name, (count, sum))| format!("{} {:.2}", escaped(name), sum / *count as f64))
            .collect();
        add("criteria", means.join(", "));
    }
    if let Some(f1) = summary.first_errors.f1() {
        let of = |Share { count, known }, what| {
            let share = percent(count, known);
            format!("{count} of {known} {what} ({share})")
        };
        let wrong = of(summary.first_errors.erroneous, "wrong responses");
        let right = of(summary.first_errors.correct, "right ones");
        let f1 = 100.0 * f1;
        add(
            "first error",
            format!("F1 {f1:.1} against `label`: {wrong}, {right}"),
        );
    }
    if let Some(groups) = summary.groups {
        let questions = counted(groups.groups, "question");
        let (all_0, all_1) = (groups.all_0, groups.all_1);
        let text = format!("{questions} with several rewards: {all_0} all 0, {all_1} all 1");
        add("groups", text);
    }
}

/// Whether rules and trials agree, and where verdicts come from.
fn sources(summary: &Summary, rows: &mut Rows) {
    let mut add = |name, text| rows.push((name, text));
    let Share { count, known } = summary.agreement;
    if known > 0 {
        let text = format!(
            "{} on the outcome ({count} of {known})",
            percent(count, known)
        );
        add("rules agree", text);
    }
    if let Some(consensus) = &summary.consensus {
        let Share { count, known } = consensus.overall;
        let [overall, unanimous, hard] = [consensus.overall, consensus.unanimous, consensus.hard]
            .map(|share| percent(share.count, share.known));
        let text = format!(
            "{overall} overall true ({count} of {known} samples with a majority), {unanimous} unanimous, {hard} hard"
        );
        add("consensus", text);
    }
    if summary.reused > 0 {
        let (reused, all) = (summary.reused, summary.verdicts());
        let (share, spared) = (percent(reused, all), summary.reused_tokens);
        let tokens = HumanCount((spared.prompt_tokens + spared.completion_tokens) as u64);
        let text = format!(
            "{reused} of {all} verdicts ({share}) from answers to equal prompts, which are asked once: {tokens} of the tokens below were not spent"
        );
        add("reused", text);
    }
    if summary.outcomes_by_rules > 0 {
        let outcomes = counted(summary.outcomes_by_rules, "outcome");
        add(
            "from rules",
            format!("{outcomes}, where the judge gave none"),
        );
    }
    if summary.skipped > 0 {
        let what = "that the rules found wrong, or that say nothing: their reward is 0";
        add("not asked", format!("{} {what}", summary.skipped));
    }
    if let Some((low, high)) = summary.audited.interval() {
        let Share { count, known } = summary.audited;
        let (share, low, high) = (percent(count, known), 100.0 * low, 100.0 * high);
        let text = format!(
            "{known} that the rules found wrong were judged too: {count} right by the judge, {share} (95 % interval {low:.1} to {high:.1} %)"
        );
        add("audited", text);
    }
    if summary.inconsistent > 0 {
        let what = "called perfect, but not right in both process and outcome";
        add("inconsistent", format!("{} {what}", summary.inconsistent));
    }
    if summary.without_form > 0 {
        let what = "without the form, which the server refused: their answers are free text";
        add("asked again", format!("{} {what}", summary.without_form));
    }
}

fn costs(summary: &Summary, rows: &mut Rows) {
    let mut add = |name, text| rows.push((name, text));
    let tokens = summary.tokens;
    if tokens.prompt_tokens > 0 {
        let generated = tokens.completion_tokens.saturating_sub(tokens.known_tokens);
        let mut text = format!(
            "{} in prompts ({} of them cached), {} generated",
            HumanCount(tokens.prompt_tokens as u64),
            percent(tokens.cached_tokens, tokens.prompt_tokens),
            HumanCount(generated as u64)
        );
        for (count, what) in [
            (tokens.known_tokens, "put in (the verdict's fixed text)"),
            (tokens.left_out_tokens, "left out (no longer needed)"),
        ] {
            if count > 0 {
                let _ = write!(text, ", {} {what}", HumanCount(count as u64));
            }
        }
        if let Some(cost) = summary.cost() {
            let _ = write!(text, "; cost {cost:.2}");
        }
        add("tokens", text);
    }
    if summary.engine.drafted_tokens > 0 {
        let (drafted, accepted) = (
            summary.engine.drafted_tokens,
            summary.engine.accepted_tokens,
        );
        let share = percent(accepted as usize, drafted as usize);
        let drafted = HumanCount(drafted);
        add(
            "drafts",
            format!("{drafted} tokens drafted, {share} of them accepted"),
        );
    }
    if summary.engine.out_of_memory > 0 {
        let times = counted(summary.engine.out_of_memory as usize, "time");
        let blocks = summary.engine.blocks;
        let text = format!("ran out {times}; the engine shrank to {blocks} KV blocks and went on");
        add("memory", text);
    }
    if summary.devices.len() > 1 {
        let devices: Vec<String> = summary
            .devices
            .iter()
            .map(|device| format!("{} {}", device.device, counted(device.verdicts, "verdict")))
            .collect();
        add("devices", devices.join(", "));
    }
    if summary.resumed > 0 {
        let were = if summary.resumed == 1 { "was" } else { "were" };
        add("resumed", format!("{} {were} done before", summary.resumed));
    }
    if let Some(rate) = summary.verdicts_per_second() {
        let seconds = summary.elapsed.as_secs_f64();
        add("speed", format!("{rate:.1} verdicts/s ({seconds:.1} s)"));
    }
}

#[cfg(test)]
mod tests;
