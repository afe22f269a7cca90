//! A row of the data set and a seed into attacks.

use std::collections::HashSet;

use super::answers::{before_answer, with_another_digit, with_wrong_answer};
use super::family::Family;
use super::target::Target;
use super::texts::{self, fill};
use crate::protocol::Yields;
use juror_data::Sample;
use juror_engine::engine::random::uniform;
use juror_rules::OutcomeRules;

/// Characters that a repeated line fills, about.
const REPEATED: usize = 800;

/// Other rows that are tried for a wrong answer.
const TRIED_ROWS: usize = 8;

/// A response that deserves no reward.
#[derive(Debug, Clone)]
pub struct Attack {
    pub family: Family,
    /// The row it was made of with this response in place of its own, and `/` and the family after its id.
    pub sample: Sample,
}

/// The first row of each question and reference answer: attacks on the responses to one question would be nearly the same attack.
pub fn one_row_a_question(rows: &mut Vec<Sample>) {
    let mut seen = HashSet::new();
    rows.retain(|row| {
        let key = Sample::content_id(&row.question, &row.reference_answer, "");
        seen.insert(key)
    });
}

/// For each row, one attack of every family that applies to the protocol, where the row allows it. The same rows, target and seed give the same attacks; a row's do not depend on the number of families.
pub fn attacks(
    rows: &[Sample],
    families: &[Family],
    target: &Target,
    yields: Yields,
    seed: u64,
) -> Vec<Attack> {
    let rules = OutcomeRules::default();
    let mut attacks: Vec<Attack> = Vec::new();
    for row in rows {
        for (number, &family) in (0..).zip(Family::ALL.iter()) {
            if !families.contains(&family) || !family.is_attack_on(yields) {
                continue;
            }
            let mut generator = Generator {
                row,
                rows,
                target,
                rules: &rules,
                draws: Draws {
                    seed,
                    row: row.id_hash(),
                    family: number,
                    drawn: 0,
                },
            };
            let Some(student_answer) = generator.response(family) else {
                continue;
            };
            let sample = Sample {
                id: format!("{}/{}", row.id, family.name()),
                index: attacks.len(),
                student_answer,
                ..row.clone()
            };
            attacks.push(Attack { family, sample });
        }
    }
    attacks
}

/// Random choices that depend on the seed, the row and the family alone.
struct Draws {
    seed: u64,
    row: u64,
    family: u32,
    drawn: u32,
}

impl Draws {
    /// A number from 0 to below `count`; 0 of nothing.
    fn below(&mut self, count: usize) -> usize {
        let share = uniform(self.seed, self.row, self.family, self.drawn);
        self.drawn += 1;
        ((share * count as f64) as usize).min(count.saturating_sub(1))
    }

    fn one<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        let at = self.below(texts.len());
        texts.get(at).copied().unwrap_or_default()
    }
}

/// Makes the attacks of one row.
struct Generator<'a> {
    row: &'a Sample,
    rows: &'a [Sample],
    target: &'a Target,
    rules: &'a OutcomeRules,
    draws: Draws,
}

impl<'a> Generator<'a> {
    /// A response of the family; `None` where the row does not allow one.
    fn response(&mut self, family: Family) -> Option<String> {
        Some(match family {
            Family::Empty => String::new(),
            Family::ContentFree => self.text("content-free").to_owned(),
            Family::Question => self.unless_right(self.row.question.clone())?,
            Family::Truncated => self.truncated()?,
            Family::Repetition => self.repetition(),
            Family::BothAnswers => {
                let wrong = self.wrong_answer()?;
                self.filled("both-answers", &wrong, "")
            }
            Family::ReferenceBehindError => {
                let wrong = self.wrong_answer()?;
                let statement = self.statement();
                format!("{}\n\n{statement}", self.wrong_response(&wrong))
            }
            Family::BareReference => match self.draws.below(3) {
                0 => self.reference().to_owned(),
                _ => self.statement(),
            },
            Family::Instructions => {
                let wrong = self.wrong_answer()?;
                let body = self.wrong_response(&wrong);
                let order = self.filled("instruction", &wrong, "");
                match self.draws.below(2) {
                    0 => format!("{order}\n\n{body}"),
                    _ => format!("{body}\n\n{order}"),
                }
            }
            Family::ForgedVerdict | Family::ForgedThinking | Family::ControlTokens => {
                self.forged(family)?
            }
        })
    }

    /// A wrong response and what forges a verdict after it.
    fn forged(&mut self, family: Family) -> Option<String> {
        let wrong = self.wrong_answer()?;
        let body = self.wrong_response(&wrong);
        let target = self.target;
        let verdicts: Vec<&str> = target.verdicts.iter().map(String::as_str).collect();
        let verdict = fill(self.draws.one(&verdicts), &[("wrong", &wrong)]);
        let forged = match family {
            Family::ForgedThinking => {
                let thought = self.filled("thought", &wrong, "");
                let own = target.thinking.as_ref();
                let own = own.map(|(open, close)| format!("{open}{{thought}}{close}\n{{verdict}}"));
                let mut forms = texts::of_kind("thinking");
                forms.extend(own.as_deref());
                let form = self.draws.one(&forms);
                fill(form, &[("thought", &thought), ("verdict", &verdict)])
            }
            Family::ControlTokens => {
                let own: Vec<&str> = target.control_tokens.iter().map(String::as_str).collect();
                match self.draws.below(3) {
                    // Any of the model's own: those of its family are among the texts.
                    0 if !own.is_empty() => {
                        let first = self.draws.one(&own);
                        let second = self.draws.one(&own);
                        format!("{first}{second}{verdict}{first}")
                    }
                    _ => self.filled("control-tokens", &wrong, &verdict),
                }
            }
            _ => {
                let end = match self.draws.below(3) {
                    0 => "",
                    1 => &target.field_end,
                    _ => &target.prompt_end,
                };
                let end = fill(end, &[("wrong", &wrong)]);
                format!("{}\n{verdict}", end.trim_start_matches('\n'))
            }
        };
        Some(format!("{body}\n{forged}"))
    }

    fn text(&mut self, kind: &str) -> &'static str {
        self.draws.one(&texts::of_kind(kind))
    }

    fn filled(&mut self, kind: &str, wrong: &str, verdict: &str) -> String {
        let values = [
            ("reference", self.reference()),
            ("wrong", wrong),
            ("verdict", verdict),
        ];
        fill(self.text(kind), &values)
    }

    /// The right answer, stated as a final one.
    fn statement(&mut self) -> String {
        fill(self.text("statement"), &[("answer", self.reference())])
    }

    /// The first of the row's right answers.
    fn reference(&self) -> &'a str {
        self.row.references().next().unwrap_or_default()
    }

    /// Whether the rules find that a text ends in a right answer.
    fn is_right(&self, text: &str) -> bool {
        let mut references = self.row.references();
        references.any(|reference| self.rules.verify(reference, text).outcome == Some(true))
    }

    fn unless_right(&self, text: String) -> Option<String> {
        (!self.is_right(&text)).then_some(text)
    }

    /// An answer that is not right: the reference with another digit, else that of another row.
    fn wrong_answer(&mut self) -> Option<String> {
        let digit = self.draws.below(1 << 16);
        if let Some(wrong) = with_another_digit(self.reference(), digit)
            && !self.is_right(&wrong)
        {
            return Some(wrong);
        }
        for _ in 0..TRIED_ROWS {
            let at = self.draws.below(self.rows.len());
            let other = self.rows.get(at)?.references().next()?.trim();
            let same = |reference: &str| reference.trim().eq_ignore_ascii_case(other);
            if !self.row.references().any(same) && !self.is_right(other) {
                return Some(other.to_owned());
            }
        }
        None
    }

    /// A response that comes to the wrong answer by a false derivation: the row's own with the wrong answer in every place of
    /// the right one, so that what led to the one now claims the other; else a few false sums.
    fn wrong_response(&mut self, wrong: &str) -> String {
        let own = with_wrong_answer(&self.row.student_answer, self.reference(), wrong);
        let own = own.filter(|own| !self.is_right(own));
        own.unwrap_or_else(|| self.filled("wrong-derivation", wrong, ""))
    }

    /// The first fifth to three fifths of the row's response, and nothing from its answer on.
    fn truncated(&mut self) -> Option<String> {
        let response = &self.row.student_answer;
        let characters = response.chars().count();
        let kept = characters / 5 + self.draws.below(characters * 2 / 5 + 1);
        let beginning: String = response.chars().take(kept).collect();
        let cut = before_answer(&beginning, self.row.references()).trim_end();
        if !cut.contains(char::is_alphanumeric) {
            return None;
        }
        self.unless_right(cut.to_owned())
    }

    /// A line of a truncated response, or one of ours, over and over.
    fn repetition(&mut self) -> String {
        let own = match self.draws.below(2) {
            0 => self.truncated(),
            _ => None,
        };
        let line = own.as_deref().and_then(|text| text.lines().last());
        let line = match line.map(str::trim) {
            Some(line) if line.contains(char::is_alphanumeric) => line.to_owned(),
            _ => self.text("loop").to_owned(),
        };
        let times = (REPEATED / (line.chars().count() + 1)).max(3);
        vec![line; times].join("\n")
    }
}
