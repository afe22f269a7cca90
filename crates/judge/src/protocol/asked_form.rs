//! The form of answers that a prompt text asks for, where its words show one.

use regex::Regex;

use super::Protocol;

/// A form each: the protocols that read it, perhaps none, and a pattern whose group is what asks for it; what it finds without the group only speaks of the form.
const FORMS: &str = include_str!("asked_forms.tsv");

impl Protocol {
    /// What a prompt text asks for where that is another form than this protocol's, and the protocols that read it.
    pub fn asked_otherwise(&self, prompt: &str) -> Option<(String, Vec<&'static str>)> {
        let find = |line: &'static str| {
            let (names, pattern) = line.split_once('\t')?;
            let pattern = Regex::new(pattern).ok()?;
            let mut places = pattern.captures_iter(prompt);
            let found = places.find_map(|place| place.get(1))?;
            Some((
                found.as_str().to_owned(),
                names.split_whitespace().collect(),
            ))
        };
        let asked: Vec<(String, Vec<&str>)> = FORMS.lines().filter_map(find).collect();
        let is_own = asked.iter().any(|(_, names)| names.contains(&&*self.name));
        asked.into_iter().find(|_| !is_own)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{find, known};

    /// Each built-in text asks for what its own protocol reads, and of those with words that show it, for nothing that prime reads.
    #[test]
    fn texts_ask_for_what_their_protocols_read() {
        let prime = find("prime").unwrap();
        let mut others = Vec::new();
        for protocol in known() {
            let Some(text) = protocol.template.as_deref() else {
                continue;
            };
            assert_eq!(protocol.asked_otherwise(text), None, "{}", protocol.name);
            if let Some((asked, names)) = prime.asked_otherwise(text) {
                let name = protocol.name.as_str();
                assert!(names.contains(&name), "{name}: {asked} of {names:?}");
                others.push(name);
            }
        }
        let shown = [
            "answer-json",
            "compass-cot",
            "first-error",
            "general-verifier",
            "pairwise",
            "rubric",
            "sci-verifier",
            "verifybench",
        ];
        others.sort_unstable();
        assert_eq!(others, shown);
    }

    #[test]
    fn what_a_text_asks_for_is_named_and_what_it_speaks_of_is_not() {
        let prime = find("prime").unwrap();
        for (text, asked, names) in [
            (
                "Rate it from 1 to 10: \"Rating: [[5]]\".",
                "Rating: [[5]]",
                &[][..],
            ),
            (
                "as \"[[rating]]\", for example \"[[5]]\"",
                "[[rating]]",
                &[],
            ),
            (
                "\"[[A]]\" if A is better, \"[[B]]\" if B is",
                "[[A]]",
                &["pairwise"],
            ),
            (
                "Reply with a JSON object.",
                "Reply with a JSON",
                &["answer-json", "rubric"],
            ),
            (
                "Final Judgment: Yes/No",
                "Final Judgment:",
                &["verifybench"],
            ),
            (
                "Conclude with [Correct] or [Incorrect].",
                "[Correct]",
                &["xverify"],
            ),
            ("Final judgment: True or False", "Final judgment:", &[]),
            (
                "Do not explain, just output JSON without any other text.",
                "output JSON",
                &["answer-json", "rubric"],
            ),
            (
                "If the value in \\boxed{} is right, put your verdict in \\boxed{A}",
                "verdict in \\boxed",
                &["compass", "compass-cot", "sci-verifier", "first-error"],
            ),
        ] {
            let expected = Some((asked.to_owned(), names.to_vec()));
            assert_eq!(prime.asked_otherwise(text), expected, "{text}");
            let both = format!("{text} Write <outcome> True or False </outcome>.");
            assert_eq!(prime.asked_otherwise(&both), None, "{text}");
        }
        for text in [
            "Is the student's answer right? The student writes it in \\boxed{}.",
            "The question is about JSON and about [[1, 2], [3, 4]].",
            "Answer True or False.",
            "Grade the student answer, which is the last \\boxed{} of the response.",
            "The final verdict is True if the value in \\boxed{} equals the reference.",
            "Give a verdict of True when the value in \\boxed{} is right.",
            "The label of the option stands in \\boxed{}.",
            "Do not output JSON. Never answer in JSON.",
            "The question may ask the student to return a JSON object.",
            "Is the student's answer JSON?",
            "Verdict: A single word, True or False.",
            "Some solutions end in [[A]] where A is a matrix.",
            "Steps marked [Correct] were checked already.",
        ] {
            assert_eq!(prime.asked_otherwise(text), None, "{text}");
        }
    }
}
