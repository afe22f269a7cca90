//! The pages, which are sent while their records are found.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use super::App;
use super::query::Query;
use super::shown::{kind_words, record, summary_words};
use crate::EvalError;
use crate::browse::{Hits, Kind, Record, Search, Sort, Summary, Truth, Within};
use crate::eval::{MOST_PARTS, Miss};
use crate::report::numbers::grouped;
use crate::report::page::render;
use crate::report::run;
use crate::report::text::plain;
use juror_data::verdict::Status;

/// The most trials of a sample that are listed beside one of them.
const MOST_TRIALS: usize = 64;

/// Writes a page, part by part; returns `false` once nobody reads it.
pub(super) type Write<'w> = &'w mut dyn FnMut(String) -> bool;

/// Why a page is not finished.
enum Unfinished {
    Unread,
    /// It could not be made.
    Failed(String),
}

impl From<EvalError> for Unfinished {
    fn from(error: EvalError) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<minijinja::Error> for Unfinished {
    fn from(error: minijinja::Error) -> Self {
        Self::Failed(format!("the page could not be made: {error:#}"))
    }
}

/// Writes the page of the verdicts that the query asks for.
pub(super) fn list(app: &App, query: &Query, write: Write) {
    let result = write_list(app, query, write);
    finish(result, write);
}

pub(super) fn verdict(app: &App, line: u32, write: Write) {
    let result = write_verdict(app, line, write);
    finish(result, write);
}

pub(super) fn summary(app: &App) -> Result<String, minijinja::Error> {
    let summary = Summary::new(&app.browser, &app.figures);
    let words = summary_words(&summary, app.trouble().as_deref());
    render("view/summary.html", json!({"summary": words}))
}

pub(super) fn error(app: &App, why: &str) -> String {
    head(app, "not found", None).unwrap_or_default() + &trouble(why)
}

/// The error message at which a page ends.
fn trouble(why: &str) -> String {
    let page = render("view/error.html", json!({"why": why}));
    page.unwrap_or_else(|error| {
        format!(
            "<p>{}</p>",
            plain(&format!("{why}; the page could not be made: {error:#}"))
        )
    })
}

fn finish(result: Result<(), Unfinished>, write: Write) {
    if let Err(Unfinished::Failed(why)) = result {
        write(trouble(&why));
    }
}

fn head(app: &App, title: &str, form: Option<&Value>) -> Result<String, minijinja::Error> {
    let file = app.browser.path.display().to_string();
    let summary = summary(app)?;
    let run = run::words(&app.browser.path);
    render(
        "view/head.html",
        json!({"title": title, "file": file, "run": run, "summary": summary, "form": form}),
    )
}

fn write_list(app: &App, query: &Query, write: Write) -> Result<(), Unfinished> {
    let search = Search::new(&query.text, query.within).map_err(Unfinished::Failed)?;
    let (order, all, generation, form) = {
        let index = app.browser.index();
        let order = query.filter.select(&index, query.sort);
        let subjects = index.samples.subjects.all().to_vec();
        (
            order,
            index.count(),
            index.generation,
            form(query, &subjects, index.has_labels(), index.rows.is_some()),
        )
    };
    put(write, head(app, "verdicts", Some(&form))?)?;
    let judge = judge(app);
    let one = |record: &Record| item(record, &judge);
    let Some(search) = search else {
        let pages = order.len().div_ceil(query.size).max(1);
        let page = query.page.min(pages);
        let shown: Vec<u32> = order
            .iter()
            .skip((page - 1) * query.size)
            .take(query.size)
            .copied()
            .collect();
        let shown_of = if order.len() < all {
            format!(" of {}", grouped(all))
        } else {
            String::new()
        };
        let number = grouped(order.len());
        let text = format!("{number}{shown_of} verdicts{}", place(page, pages));
        put(write, count(&text)?)?;
        let links = [
            ("first", Some(1)),
            ("previous", page.checked_sub(1)),
            ("next", Some(page + 1)),
            ("last", Some(pages)),
        ];
        let links = links.map(|(name, to)| {
            let to = to.filter(|to| (1..=pages).contains(to) && *to != page);
            json!({"name": name, "to": to.map(|to| query.address(&[("page", to)]))})
        });
        let links = json!(links);
        if pages > 1 {
            put(write, nav("pages, above", "", &links)?)?;
        }
        let Some(records) = app.browser.records(&shown, generation)? else {
            return Err(outdated());
        };
        for record in &records {
            put(write, one(record)?)?;
        }
        let text = place(page, pages);
        return put(write, foot(text.trim_start_matches(", "), &links)?);
    };
    let left = order.len().saturating_sub(query.at);
    put(
        write,
        count(&format!("searching {} verdicts", grouped(left)))?,
    )?;
    let (mut found, mut result) = (0, Ok(()));
    let mut unread = false;
    let go_on = || !app.ends.load(Ordering::Relaxed);
    let hits = {
        // A closed connection is also noticed between records.
        let written = std::cell::RefCell::new(&mut *write);
        let go_on = || go_on() && (written.borrow_mut())(String::new());
        search.run(
            &app.browser,
            &order,
            generation,
            query.at,
            &go_on,
            &mut |record| {
                found += 1;
                match one(&record) {
                    Ok(html) => unread = !(written.borrow_mut())(html),
                    Err(error) => result = Err(error),
                }
                result.is_ok() && !unread && found < query.size
            },
        )?
    };
    result?;
    let text = match hits {
        _ if unread => return Err(Unfinished::Unread),
        Hits::Outdated => return Err(outdated()),
        Hits::All => format!("{found} found; all were looked through"),
        Hits::Stopped(at) => format!(
            "{found} found in {} of {}",
            grouped(at - query.at),
            grouped(order.len())
        ),
    };
    let next = match hits {
        Hits::Stopped(at) if at < order.len() => Some(query.address(&[("at", at)])),
        _ => None,
    };
    let first = (query.at > 0).then(|| query.address(&[]));
    let links = json!([{"name": "from the beginning", "to": first}, {"name": "next", "to": next}]);
    put(write, foot(&text, &links)?)
}

fn write_verdict(app: &App, line: u32, write: Write) -> Result<(), Unfinished> {
    let (ats, text, generation, neighbours) = {
        let index = app.browser.index();
        let Some(at) = index.at_line(line) else {
            return Err(Unfinished::Failed(format!(
                "there is no verdict in line {line}"
            )));
        };
        let sample = index.scored[at].sample;
        let trials = (0..index.count())
            .filter(|other| *other != at && index.scored[*other].sample == sample);
        let ats: Vec<u32> = std::iter::once(at)
            .chain(trials.take(MOST_TRIALS))
            .map(|at| at as u32)
            .collect();
        let of = |at: Option<usize>| Some(index.scored.get(at?)?.line);
        let (number, all) = (grouped(at + 1), grouped(index.count()));
        (
            ats,
            format!("verdict {number} of {all}, line {line}"),
            index.generation,
            [of(at.checked_sub(1)), of(Some(at + 1))],
        )
    };
    let Some(records) = app.browser.records(&ats, generation)? else {
        return Err(outdated());
    };
    put(write, head(app, &format!("line {line}"), None)?)?;
    let [before, after] = neighbours.map(|line| line.map(|line| format!("/verdict?line={line}")));
    let links = json!([{"name": "all verdicts", "to": "/"}, {"name": "previous", "to": before}, {"name": "next", "to": after}]);
    put(write, nav("pages, above", &text, &links)?)?;
    let judge = judge(app);
    let mut records = records.into_iter();
    if let Some(one) = records.next() {
        put(write, record(&one, &judge, true).html()?)?;
        let text = serde_json::to_string_pretty(&one.verdict).unwrap_or_default();
        put(write, render("view/line.html", json!({"text": text}))?)?;
    }
    let others: Vec<Record> = records.collect();
    if !others.is_empty() {
        put(write, count("other trials of this sample")?)?;
    }
    for other in &others {
        put(write, item(other, &judge)?)?;
    }
    put(write, foot(&text, &links)?)
}

fn nav(label: &str, text: &str, links: &Value) -> Result<String, minijinja::Error> {
    render(
        "view/nav.html",
        json!({"where": label, "text": text, "links": links}),
    )
}

fn foot(text: &str, links: &Value) -> Result<String, minijinja::Error> {
    render(
        "view/foot.html",
        json!({"nav": nav("pages, below", text, links)?}),
    )
}

/// A verdict in a list, with a link to its own page.
fn item(one: &Record, judge: &str) -> Result<String, minijinja::Error> {
    let article = record(one, judge, false).html()?;
    render(
        "view/item.html",
        json!({"line": one.scored.line, "article": article}),
    )
}

fn count(text: &str) -> Result<String, minijinja::Error> {
    render("view/count.html", json!({"text": text}))
}

fn put(write: Write, html: String) -> Result<(), Unfinished> {
    if write(html) {
        Ok(())
    } else {
        Err(Unfinished::Unread)
    }
}

fn outdated() -> Unfinished {
    Unfinished::Failed("the file was written anew meanwhile: load the page again".to_owned())
}

fn place(page: usize, pages: usize) -> String {
    if pages > 1 {
        format!(", page {} of {}", grouped(page), grouped(pages))
    } else {
        String::new()
    }
}

/// The name of the judge, which is that of its file.
fn judge(app: &App) -> String {
    let path = &app.browser.path;
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// The form's fields and the options chosen in them.
fn form(query: &Query, subjects: &[String], has_labels: bool, has_rows: bool) -> Value {
    let values = query.values();
    let value = |name: &str| {
        values
            .iter()
            .find(|(key, _)| *key == name)
            .map_or("", |(_, value)| value)
    };
    let field = |name: &str, label: &str, all: &mut dyn Iterator<Item = (String, String)>| {
        let chosen = value(name);
        let choices = all
            .map(|(value, text)| json!({"chosen": value == chosen, "value": value, "text": text}));
        json!({"name": name, "label": label, "choices": choices.collect::<Vec<_>>()})
    };
    let any = || std::iter::once((String::new(), "any".to_owned()));
    let truth = |name: &str, label: &str| {
        let words = ["true", "false", "nothing"];
        let all = Truth::ALL.iter().zip(words);
        let all = all.map(|(truth, word)| (truth.name().to_owned(), word.to_owned()));
        field(name, label, &mut any().chain(all))
    };
    let statuses = Status::ALL.map(|status| (status.name().to_owned(), status.words()));
    let kinds = Kind::all().filter(|kind| match kind {
        Kind::Any | Kind::Trials | Kind::Miss(Miss::RulesAgainstJudge | Miss::NoVerdict) => true,
        // The others are told by a label.
        Kind::Miss(_) => has_labels,
    });
    let kinds = kinds.map(|kind| (kind.name().to_owned(), kind_words(kind)));
    let sorts = Sort::ALL
        .into_iter()
        .filter(|sort| has_rows || !matches!(sort, Sort::Longest | Sort::Shortest));
    // A default is not in the address.
    let unless = |is_default: bool, name: &str| name.repeat(usize::from(!is_default));
    let sorts = sorts.map(|sort| {
        let value = unless(sort == Sort::default(), sort.name());
        (value, sort_words(sort).to_owned())
    });
    let within = Within::ALL.map(|within| {
        let value = unless(within == Within::default(), within.name());
        (value, within.name().to_owned())
    });
    let with_or_without = [(String::new(), "with or without".to_owned())];
    let mut kinds = with_or_without.into_iter().chain(kinds);
    let mut fields = vec![
        field("status", "status", &mut any().chain(statuses)),
        field("kind", "disagreement", &mut kinds),
        truth("overall", "overall"),
        truth("outcome", "outcome"),
        truth("process", "process"),
        truth("rules", "rules"),
    ];
    if (1..=MOST_PARTS).contains(&subjects.len()) {
        let names = subjects.iter().map(|name| (name.clone(), name.clone()));
        fields.push(field("subject", "subject", &mut any().chain(names)));
    }
    fields.push(field("sort", "order", &mut { sorts }));
    let numbers = [
        ("trial", "trial"),
        ("from", "reward from"),
        ("to", "reward to"),
    ];
    let numbers =
        numbers.map(|(name, label)| json!({"name": name, "label": label, "value": value(name)}));
    let is_default = values.is_empty();
    let chosen = values
        .iter()
        .filter(|(key, _)| !matches!(*key, "q" | "in" | "size"));
    let chosen = chosen.count();
    let is_live = query.sort == Sort::Newest && query.page == 1 && query.text.is_empty();
    json!({"q": query.text, "within": field("in", "in", &mut within.into_iter()), "fields": fields, "numbers": numbers, "size": value("size"),
        "is_default": is_default, "chosen": chosen, "is_live": is_live})
}

fn sort_words(sort: Sort) -> &'static str {
    match sort {
        Sort::File => "as in the file",
        Sort::Newest => "newest first",
        Sort::LeastSure => "least sure first",
        Sort::Surest => "surest first",
        Sort::Longest => "longest response first",
        Sort::Shortest => "shortest response first",
        Sort::MostTokens => "most tokens first",
        Sort::FewestTokens => "fewest tokens first",
    }
}
