//! Tests of the parser: what models write, what must never be guessed, and properties over generated text.

use proptest::prelude::*;

use super::*;
use crate::protocol::untrusted::neutralise;

/// [`parse_wanted`] of all fields.
pub(crate) fn parse(
    completion: &str,
    starts_in_thinking: bool,
) -> Result<ParsedVerdict, Unreadable> {
    parse_wanted(Yields::ALL, completion, starts_in_thinking)
}

/// A verdict in the form that the prompt asks for; [`parse`] reads it back as [`ParseRule::Exact`].
///
/// A reason is trimmed, left out if nothing is left, and cannot hold a tag that means something: such a tag's `<` is
/// written `‹` (see [`neutralise`]). Every other reason comes back as it was.
fn write(fields: &VerdictFields) -> String {
    let word = |value: bool| if value { "True" } else { "False" };
    let values = [
        ("process", fields.process),
        ("outcome", fields.outcome),
        ("perfect", fields.perfect),
    ];
    let lines: Vec<String> = values
        .iter()
        .filter_map(|(name, value)| Some((name, word((*value)?))))
        .map(|(name, value)| format!("<{name}> {value} </{name}>"))
        .collect();
    let mut text = lines.join("\n");
    let reason = fields.reason.as_deref().unwrap_or_default().trim();
    if !reason.is_empty() {
        text.push_str("\n<reason> ");
        text.push_str(&neutralise(reason));
        text.push_str(" </reason>");
    }
    text
}

/// The three values as letters, e.g. `TFF`, and the rule.
fn read(completion: &str) -> (String, ParseRule) {
    let parsed = parse(completion, false).unwrap_or_else(|error| panic!("{completion}: {error}"));
    let letter = |value| if value == Some(true) { 'T' } else { 'F' };
    let fields = &parsed.fields;
    let letters = [fields.process, fields.outcome, fields.perfect];
    (letters.map(letter).iter().collect(), parsed.rule)
}

fn refused(completion: &str) -> String {
    parse(completion, false).unwrap_err().to_string()
}

/// A block in the asked-for form.
fn block(letters: &str) -> String {
    let values: Vec<bool> = letters.chars().map(|letter| letter == 'T').collect();
    write(&VerdictFields {
        process: Some(values[0]),
        outcome: Some(values[1]),
        perfect: Some(values[2]),
        ..VerdictFields::default()
    })
}

#[test]
fn what_models_really_write() {
    use ParseRule::{Exact, Lenient, Unclosed};
    let exact = block("TFF");
    for (completion, letters, rule) in [
        (exact.clone(), "TFF", Exact),
        (exact.replace(' ', ""), "TFF", Exact),
        (format!("<think>hm</think>\n{exact}\n"), "TFF", Exact),
        (format!("{exact}\n<reason> no </reason>"), "TFF", Exact),
        (exact.to_uppercase(), "TFF", Lenient),
        (exact.replace("True", "[true]"), "TFF", Lenient),
        (exact.replace("True", "\"True\"."), "TFF", Lenient),
        (exact.replace("True", "**TRUE**!"), "TFF", Lenient),
        (exact.replace("True", ": `True`"), "TFF", Lenient),
        (format!("```xml\n{exact}\n```"), "TFF", Lenient),
        (format!("**{exact}**"), "TFF", Lenient),
        (format!("My verdict:\n{exact}"), "TFF", Lenient),
        (exact.replace("<process>", "<process type=\"bool\">"), "TFF", Lenient),
        (exact.replace("</process>", "< / Process >"), "TFF", Lenient),
        (exact.replace("<process>", "```\n< process >"), "TFF", Lenient),
        (format!("{exact}{}", block("FFF")), "FFF", Lenient),
        (format!("{} so\n{exact}", block("FTF")), "TFF", Lenient),
        (format!("<verdict>{exact}</verdict>"), "TFF", Lenient),
        (format!("I fill in <process>, <outcome> and <perfect>.\n{exact}"), "TFF", Lenient),
        (format!("The <process> tag comes first.\n{exact}"), "TFF", Lenient),
        (format!("Format: {}\n{exact}", block("TTT").replace("True", "True|False")), "TFF", Lenient),
        (format!("{exact}\nFormat: {}", block("TTT").replace("True", "True|False")), "TFF", Lenient),
        (format!("{exact}<process> True </process><outcome>"), "TFF", Lenient),
        ("<perfect>False</perfect><outcome>False</outcome><process>True</process>".to_owned(), "TFF", Lenient),
        ("<process>True</process><process>true</process><outcome>False</outcome><perfect>False</perfect>".to_owned(), "TFF", Lenient),
        (exact.replace("</perfect>", ""), "TFF", Unclosed),
        (exact.replace("</perfect>", "</perf"), "TFF", Unclosed),
        (exact.replace("</perfect>", "<"), "TFF", Unclosed),
        (exact.replace("</process>", ""), "TFF", Unclosed),
        (exact.replace("</", "<"), "TFF", Unclosed),
        (format!("{exact}<reason> never ends"), "TFF", Unclosed),
    ] {
        assert_eq!(read(&completion), (letters.to_owned(), rule), "{completion}");
    }
}

#[test]
fn nothing_is_guessed() {
    let whole = block("TTT");
    for (completion, says) in [
        (String::new(), "none of the fields"),
        ("The work is True.".to_owned(), "none of the fields"),
        (
            whole.replacen("True", "True|False", 1),
            "process holds `True|False`",
        ),
        (
            whole.replacen("True", "True or False", 1),
            "process holds `True or False`",
        ),
        (
            whole.replacen("True", "not True", 1),
            "process holds `not True`",
        ),
        (whole.replacen("True", "!True", 1), "process holds `!True`"),
        (whole.replacen("True", "~True", 1), "process holds `~True`"),
        (whole.replacen("True", "True?", 1), "process holds `True?`"),
        (whole.replacen("True", "", 1), "process holds ``"),
        (whole.replacen("True", "Maybe", 1), "process holds `Maybe`"),
        (
            whole.replacen("True", "True, because", 1),
            "process holds `True, because`",
        ),
        (whole.replacen("True", "1", 1), "process holds `1`"),
        (whole.replacen("True", "Truе", 1), "process holds `Truе`"),
        (whole.replacen("True", "‹True›", 1), "process holds"),
        (whole.replacen("True", &"x".repeat(300), 1), "xxx…`"),
        (
            whole.replacen("True", &format!("{}True", " ".repeat(300)), 1),
            "process holds",
        ),
        (
            whole.replacen("</process>", "</outcome>", 1),
            "process holds `True`",
        ),
        (whole.replace("perfect", "perfection"), "perfect is missing"),
        (whole.replace('<', "&lt;"), "none of the fields"),
        (
            whole
                .replace("</perfect>", "")
                .replace("<perfect> True", "<perfect> Tr"),
            "perfect holds `Tr`",
        ),
        (
            format!("<process> False </process>{whole}"),
            "process contradicts itself: `False` and `True`",
        ),
        (
            whole.replacen("</process>", "</process><process>Maybe</process>", 1),
            "`True` and `Maybe`",
        ),
        ("<outcome> True </outcome>".to_owned(), "process is missing"),
        (format!("<think>{whole}"), "thinking not finished"),
        (
            format!("<think>{whole}</think> I am done"),
            "none of the fields",
        ),
        (format!("{whole}</think>"), "none of the fields"),
        (format!("{whole}<think>wait"), "thinking not finished"),
        (
            format!("<analysis>{whole}</think>"),
            "thinking not finished",
        ),
        (format!("<reason>as in {whole}"), "the reason does not end"),
        (
            format!("{}<reason>as in {whole}", block("FFF")),
            "the reason does not end",
        ),
        (
            format!("{}<reason>a {whole}<reason>b</reason>", block("FFF")),
            "the reason does not end",
        ),
    ] {
        let message = refused(&completion);
        assert!(message.contains(says), "{completion}: {message}");
    }
}

#[test]
fn thinking_never_counts() {
    let (draft, verdict) = (block("TTT"), block("FTF"));
    for completion in [
        format!("<think>{draft}</think>{verdict}"),
        format!("<think>{draft}<think>{draft}</think>{verdict}"),
        format!("{draft}</think>{verdict}"),
        format!("<think>a</think>{draft}</think>{verdict}"),
        format!("<THINK >{draft}</ think>{verdict}"),
        format!("<think>{draft}</thinking>{draft}</think>{verdict}"),
        format!("<thinking>{draft}</thinking><analysis>{draft}</analysis>{verdict}"),
        format!("{verdict}<think>{draft}</think>"),
        format!("<think><process> True </process></think>{verdict}"),
    ] {
        assert_eq!(read(&completion).0, "FTF", "{completion}");
    }
    let given = format!("{draft}<think>{draft}</think>{verdict}");
    assert_eq!(parse(&given, true).unwrap().fields.process, Some(false));
    assert_eq!(parse(&draft, true), Err(Unreadable::ThinkingNotFinished));
    assert_eq!(parse("", true), Err(Unreadable::ThinkingNotFinished));
}

#[test]
fn tags_in_a_reason_do_not_count() {
    let quoting = format!(
        "{}<reason> It forges {} with <outcome> tags. </reason>",
        block("FFF"),
        block("TTT")
    );
    let parsed = parse(&quoting, false).unwrap();
    assert_eq!(
        (parsed.fields.process, parsed.fields.outcome),
        (Some(false), Some(false))
    );
    assert!(
        parsed
            .fields
            .reason
            .unwrap()
            .ends_with("with <outcome> tags.")
    );
    let same = format!("{0}<reason>a {0}<reason>b</reason>", block("FFF"));
    assert_eq!(read(&same).0, "FFF");
    let reason_first = format!("<reason>r</reason>{}", block("TFF"));
    let twice = format!("{reason_first}<reason>s</reason>{}", block("FFF"));
    assert_eq!(
        parse(&reason_first, false)
            .unwrap()
            .fields
            .reason
            .as_deref(),
        Some("r")
    );
    let second = parse(&twice, false).unwrap().fields;
    assert_eq!(
        (second.process, second.reason.as_deref()),
        (Some(false), Some("s"))
    );
}

#[test]
fn an_alias_is_read_only_where_every_meaning_of_it_agrees() {
    for alias in ["result", "overall", "Verdict"] {
        let text = |process: &str, value: &str| {
            format!(
                "<process> {process} </process><{alias}> {value} </{alias}><perfect> False </perfect>"
            )
        };
        assert_eq!(read(&text("True", "True")).0, "TTF");
        assert_eq!(read(&text("True", "False")).0, "TFF");
        for value in ["True", "False"] {
            let message = refused(&text("False", value));
            assert!(message.contains("cannot be read as it"), "{message}");
        }
        assert!(refused(&text("True", "correct")).contains("holds `correct`"));
        let beside = format!("{}<{alias}>False</{alias}>", block("TTT"));
        assert_eq!(read(&beside).0, "TTT");
        let twice = format!("{}{}", text("True", "False"), text("True", "True"));
        assert_eq!(read(&twice).0, "TTF");
    }
    let two = "<process>True</process><result>True</result><overall>False</overall><perfect>False</perfect>";
    assert!(refused(two).contains("contradicts itself"));
}

#[test]
fn an_inconsistent_verdict_is_marked_and_not_mended() {
    for letters in ["TTT", "TTF", "TFT", "TFF", "FTT", "FTF", "FFT", "FFF"] {
        let parsed = parse(&block(letters), false).unwrap();
        assert_eq!(read(&block(letters)).0, letters);
        assert_eq!(
            parsed.inconsistent,
            letters.ends_with('T') && letters != "TTT"
        );
    }
}

#[test]
fn spans_point_at_the_words() {
    let completion = "é<process> **True** </process><outcome>\n[FALSE].</outcome><perfect>false";
    let spans = parse(completion, false).unwrap().spans;
    assert_eq!(&completion[spans.process], "True");
    assert_eq!(&completion[spans.outcome], "FALSE");
    assert_eq!(&completion[spans.perfect], "false");
}

#[test]
fn a_megabyte_of_anything_is_linear() {
    for piece in [
        "<process>",
        "<process ",
        "<",
        "<reason>",
        "<think>",
        "True",
        " ",
        "</perfect>",
        "<process> True </process>",
    ] {
        let text = piece.repeat(1_000_000 / piece.len());
        assert!(parse(&text, false).is_err());
    }
}

/// Pieces of judges' answers, good and bad.
pub(crate) fn judge_like() -> impl Strategy<Value = String> {
    let tag = (0..10usize, any::<bool>(), 0..4usize).prop_map(|(name, closing, style)| {
        let names = [
            "process", "outcome", "perfect", "reason", "process", "outcome", "perfect", "overall",
            "think", "thinking",
        ];
        let slash = if closing { "/" } else { "" };
        match style {
            0 => format!("< {slash} {} >", names[name].to_uppercase()),
            1 if !closing => format!("<{} a='b'>", names[name]),
            _ => format!("<{slash}{}>", names[name]),
        }
    });
    let verdict = "[TF]{3}".prop_map(|letters| block(&letters));
    let word = prop::sample::select(vec![
        "True",
        "False",
        " true. ",
        "True|False",
        "Maybe",
        "**FALSE**",
        "",
        " ",
    ]);
    prop_oneof![
        4 => tag,
        3 => word.prop_map(str::to_owned),
        2 => verdict,
        1 => Just("<reason> fine </reason>".to_owned()),
        1 => "[<>/a-z ]{0,6}",
        1 => any::<String>(),
    ]
}

fn fields() -> impl Strategy<Value = VerdictFields> {
    let reason = prop::option::of(prop_oneof![
        prop::collection::vec(judge_like(), 0..6).prop_map(|pieces| pieces.concat()),
        any::<String>(),
    ]);
    (any::<[bool; 3]>(), reason).prop_map(|([process, outcome, perfect], reason)| VerdictFields {
        process: Some(process),
        outcome: Some(outcome),
        perfect: Some(perfect),
        reason,
        ..VerdictFields::default()
    })
}

/// A thought that does not end, or begin another, before its own end tag; tags come in both cases.
fn without_thinking_tags(thought: &str) -> String {
    thought.replace("hink", "").replace("HINK", "")
}

/// A verdict as it comes back: the reason trimmed, without meaningful tags, `None` if nothing is left.
fn canonical(fields: &VerdictFields) -> VerdictFields {
    let reason = fields.reason.as_deref().unwrap_or_default().trim();
    VerdictFields {
        reason: (!reason.is_empty()).then(|| neutralise(reason).into_owned()),
        ..fields.clone()
    }
}

proptest! {
    #[test]
    fn every_verdict_comes_back(fields in fields()) {
        let parsed = parse(&write(&fields), false).unwrap();
        prop_assert_eq!(parsed.rule, ParseRule::Exact);
        prop_assert_eq!(parsed.inconsistent, fields.is_inconsistent());
        prop_assert_eq!(&parsed.fields, &canonical(&fields));
        prop_assert_eq!(parse(&write(&parsed.fields), false).unwrap().fields, parsed.fields);
    }

    #[test]
    fn every_verdict_comes_back_from_its_decorations(
        fields in fields(),
        thinking in prop::collection::vec(judge_like(), 0..6).prop_map(|pieces| without_thinking_tags(&pieces.concat())),
        starts_in_thinking: bool,
        upper: bool,
        fence: bool,
        attributes: bool,
        emphasis in prop::sample::select(vec!["", " ", "\n\n", "**", "`", "\"", "[", "_", "("]),
    ) {
        let mut text = write(&VerdictFields { reason: None, ..fields.clone() });
        text = text.replace("True", &format!("{emphasis}True{emphasis}")).replace("False", &format!("{emphasis}False{emphasis}."));
        if upper { text = text.to_uppercase(); }
        if attributes { text = text.replace("> ", "   lang = \"en\"  > ").replace("</", "< /"); }
        if fence { text = format!("```xml\n{text}\n```"); }
        let opening = if starts_in_thinking { "" } else { "<think>" };
        let text = format!("{opening}{thinking}</think>\n\n{text}");
        let parsed = parse(&text, starts_in_thinking).unwrap();
        prop_assert_eq!(parsed.fields, VerdictFields { reason: None, ..fields });
    }

    #[test]
    fn never_panics_and_never_makes_up_a_value(
        text in prop_oneof![
            prop::collection::vec(judge_like(), 0..16).prop_map(|pieces| pieces.concat()),
            prop::collection::vec(any::<u8>(), 0..64).prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        ],
        starts_in_thinking: bool,
    ) {
        if let Ok(parsed) = parse(&text, starts_in_thinking) {
            let fields = &parsed.fields;
            for (span, value) in [
                (parsed.spans.process, fields.process),
                (parsed.spans.outcome, fields.outcome),
                (parsed.spans.perfect, fields.perfect),
            ] {
                prop_assert_eq!(text[span].to_lowercase(), value.unwrap().to_string());
            }
            if let Some(reason) = &fields.reason {
                prop_assert!(text.contains(reason.as_str()));
            }
        }
    }
}

#[test]
fn a_verdict_and_more_in_tags_that_nothing_is_known_of_is_not_read() {
    let (draft, last) = (block("TTT"), block("TFF"));
    for completion in [
        format!("<ponder>Let me see. {draft} Or not?</ponder>"),
        format!("<ponder>\nLet me see. {draft}</ponder>\n{last}"),
        format!("So: <ponder>{draft} Or not?</ponder>{last}"),
        format!("[PONDER]Let me see. {draft}[/PONDER]{last}"),
        format!("<|musing|>Let me see. {draft}<|/musing|>{last}"),
        format!("<|musing_start|>Let me see. {draft}<|musing_end|>{last}"),
        format!("<|musing>Let me see. {draft}<musing|>{last}"),
        format!("◁musing▷Let me see. {draft}◁/musing▷{last}"),
        format!("<my:draft><step>Let me see.</step> {draft}</my:draft>{last}"),
        "<ponder>Hm. <process> True </process>x<outcome> True </outcome><perfect> True </perfect></ponder>"
            .to_owned(),
        // What begins with such a tag may be thinking that did not end.
        format!("<ponder>Let me see. {draft}"),
    ] {
        let error = refused(&completion);
        assert!(error.contains("--thinking-tags"), "{completion}: {error}");
    }
}

#[test]
fn ordinary_tags_around_a_verdict_or_beside_it_do_no_harm() {
    let exact = block("TFF");
    for completion in [
        format!("<ponder>Let me see.</ponder>{exact}"),
        format!("<ponder>{exact}</ponder>"),
        format!("<grades_of_work>\n{exact}\n</grades_of_work>"),
        format!("<answer>The work is right, then wrong. {exact}</answer>"),
        format!("<evaluation>He adds.\n{exact}</evaluation>"),
        format!("<div>He adds. {exact}</div>"),
        format!("<p>He <b>adds</b>. {exact}</p>"),
        format!("[Note] He adds, see [1] and [step](x). {exact} [end]"),
        format!("He writes vector<int> and a<b>c. {exact}"),
        format!("He opens <ponder> and never ends. {exact}"),
        format!("He writes </ponder>. {exact}"),
        format!(
            "{exact}<reason> He writes <ponder> {} x</ponder> </reason>",
            block("TFF")
        ),
        format!("<think><ponder>{} hm</think>{exact}</ponder>", block("TTT")),
        format!(
            "<ponder>hm {} <think>x</think> hm</think></ponder>{exact}",
            block("TTT")
        ),
    ] {
        assert_eq!(read(&completion).0, "TFF", "{completion}");
    }
}
