//! `juror eval --html`

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use regex::Regex;
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use crate::common::{Folder, words};

/// Texts that would do harm where they were taken for markup, for a template, or for what they look like.
const HOSTILE: [&str; 14] = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</style><style>*{display:none}</style>",
    "</script><script>alert(1)</script>",
    "\"><svg onload=alert(1)>",
    "<a href=\"javascript:alert(1)\">x</a>",
    "$</math><script>alert(1)</script>$",
    "$\\operatorname{<img src=x onerror=alert(1)>}$",
    "$\\href{javascript:alert(1)}{x}$ \\(\\text{<b>}\\)",
    "{{7*7}} {% for x in y %} {# x #}",
    "\u{202e}desrever\u{2066} \u{7} \u{1b}[31m \u{200b}",
    "<!-- --> ]]> <iframe srcdoc=x>",
    "&lt;script&gt; &#x3c;script&#x3e;",
    "$\\frac{1}{2}$ and \\[\\sqrt{x^2}\\]",
];

/// Samples whose every text is hostile, and two judges that are often wrong about them.
fn hostile(folder: &Folder) {
    let (mut labels, mut first, mut second) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..56 {
        let text = HOSTILE[number % HOSTILE.len()];
        let id = format!("{text}-{number}");
        let label = number % 3 == 0;
        let response = if number == 5 {
            "<b>x $y$</b> ".repeat(90_000)
        } else {
            text.to_owned()
        };
        labels.push(json!({"id": id, "question": text, "reference_answer": text, "response": response, "outcome_label": label,
            "overall_label": label, "process_label": label, "subject": text, "answer_type": text}));
        for (at, lines) in [&mut first, &mut second].into_iter().enumerate() {
            let said = (number + at) % 2 == 0;
            let mut line = json!({"id": id, "index": number, "trial": 0, "status": "ok", "process": said, "outcome": said,
                "overall": said, "reason": text, "rule_outcome": label,
                "confidence": {"process": 0.5, "outcome": if said { 0.95 } else { 0.05 }, "perfect": null},
                "usage": {"prompt_tokens": 9, "cached_tokens": 0, "completion_tokens": 7 + number}});
            if number % 7 == 6 {
                line = json!({"id": id, "index": number, "trial": 0, "status": "unparsed", "process": null, "outcome": null,
                    "overall": null, "error": text, "raw": {"completion": text}});
            }
            lines.push(line);
        }
    }
    let text = |lines: &[Value]| {
        let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        lines.join("\n")
    };
    folder.write("labels.jsonl", text(&labels));
    folder.write("first.jsonl", text(&first));
    folder.write("second.jsonl", text(&second));
}

const EVAL: &str = "eval first.jsonl --labels labels.jsonl --compare second.jsonl --reference prime --html report.html";

#[test]
fn hostile_texts_stay_texts() {
    let folder = Folder::new();
    hostile(&folder);
    folder.run_words(EVAL).expect(0, &[]);
    let page = folder.read("report.html");

    // One stylesheet and one script, both by their hashes; nothing else may run or load.
    let between = |from: &str, to: &str| {
        let (_, rest) = page.split_once(from).unwrap();
        rest.split_once(to).unwrap().0.to_owned()
    };
    let hash = |text: &str| {
        format!(
            "'sha256-{}'",
            STANDARD.encode(digest(&SHA256, text.as_bytes()))
        )
    };
    let policy =
        between("http-equiv=\"Content-Security-Policy\" content=\"", "\">").replace("&#39;", "'");
    let style = between("<style>", "</style>");
    let script = between("<script>", "</script>");
    assert_eq!(
        policy,
        format!(
            "default-src 'none'; base-uri 'none'; form-action 'none'; style-src {}; script-src {}",
            hash(&style),
            hash(&script)
        )
    );
    assert!(!style.contains("url(") && !style.contains("@import"));
    assert!(page.find("Content-Security-Policy") < page.find("<style>"));

    // Every element and attribute is one of ours.
    let body = page.replace(&style, "").replace(&script, "");
    let tag = Regex::new(r#"<(/?)([a-zA-Z!][a-zA-Z0-9]*)((?:\s+[a-zA-Z:-]+(?:="[^"]*")?)*)\s*/?>"#)
        .unwrap();
    let attribute = Regex::new(r#"([a-zA-Z:-]+)(?:="([^"]*)")?"#).unwrap();
    let mut found = 0;
    for tag in tag.captures_iter(&body) {
        found += 1;
        let name = &tag[2];
        let is_html = "!DOCTYPE html head meta title style body a header h1 h2 h3 h4 p main section dl div dt dd nav ul li table caption \
            thead tbody tr th td span small figure figcaption details summary svg path text rect circle desc code strong form label \
            input select option kbd article i footer script math mrow mi mn mo mtext mspace msqrt mroot mfrac msub msup msubsup munder \
            mover munderover mtable mtr mtd";
        assert!(
            is_html.split_whitespace().any(|known| known == name),
            "{}",
            &tag[0]
        );
        for attribute in attribute.captures_iter(&tag[3]) {
            let (name, value) = (
                &attribute[1],
                attribute.get(2).map_or("", |value| value.as_str()),
            );
            assert!(!name.starts_with("on"), "{}", &tag[0]);
            assert!(
                !["src", "srcdoc", "style", "action", "formaction"].contains(&name),
                "{}",
                &tag[0]
            );
            if name == "href" {
                assert!(value.starts_with('#'), "{}", &tag[0]);
            }
        }
    }
    assert!(found > 1000, "{found}");
    // What is left without the tags has no markup.
    let rest = tag.replace_all(&body, "");
    assert!(
        !rest.contains(['<', '>']),
        "{:?}",
        rest.find(['<', '>']).map(|at| &rest[at..])
    );

    // Templates are not evaluated, and no character is left that is not shown as itself.
    assert!(page.contains("{{7*7}} {% for x in y %} {# x #}"));
    assert!(page.contains("<i class=\"hidden\">\\u{202e}</i>desrever"));
    for hidden in ['\u{202e}', '\u{2066}', '\u{7}', '\u{1b}', '\u{200b}', '\r'] {
        assert!(!page.contains(hidden), "{hidden:?}");
    }
    assert!(page.contains("<mfrac><mrow><mn>1</mn></mrow><mrow><mn>2</mn></mrow></mfrac>"));

    // A text of a megabyte is cut, and says so.
    assert!(page.contains("characters left out"));
    assert!(page.len() < 3_000_000, "{}", page.len());

    // The same files give the same page.
    folder.run_words(EVAL).expect(0, &[]);
    assert_eq!(folder.read("report.html"), page);
}

/// A sample with a lucky guess that the judge misses, one false alarm, one that is right, one that cannot be read.
fn small(folder: &Folder, kept: bool) {
    let rows = [
        ("lucky", true, false, Some((true, true))),
        ("alarm", true, true, Some((false, true))),
        ("right", true, true, Some((true, true))),
        ("unread", false, false, None),
    ];
    let (mut labels, mut verdicts) = (Vec::new(), Vec::new());
    for (number, (id, outcome, overall, said)) in rows.into_iter().enumerate() {
        let row = json!({"id": id, "question": format!("Question of {id}?"), "reference_answer": "42",
            "response": format!("Response of {id}."), "outcome_label": outcome, "overall_label": overall});
        labels.push(row.to_string());
        let mut verdict = json!({"id": id, "index": number, "trial": 0, "status": if said.is_some() { "ok" } else { "unparsed" },
            "process": said.map(|said| said.0), "outcome": said.map(|said| said.1), "overall": said.map(|said| said.0 && said.1),
            "reason": said.map(|_| format!("Reason of {id}.")), "usage": {"prompt_tokens": 1, "cached_tokens": 0, "completion_tokens": 3}});
        if kept {
            verdict["input"] = row;
        }
        if said.is_none() {
            verdict["raw"] = json!({"completion": "Words without a verdict."});
        }
        // Blank lines count as lines.
        verdicts.extend([String::new(), verdict.to_string()]);
    }
    folder.write("labels.jsonl", labels.join("\n"));
    folder.write("verdicts.jsonl", verdicts.join("\n"));
}

/// The article of a sample.
fn article<'p>(page: &'p str, id: &str) -> Option<&'p str> {
    let name = format!("<span class=\"id\">{id}</span>");
    let mut articles = page.split("<article ").skip(1);
    articles.find(|article| article.contains(&name))
}

#[test]
fn records_say_where_they_are_from() {
    for kept in [false, true] {
        let folder = Folder::new();
        small(&folder, kept);
        let mut eval = vec!["eval", "verdicts.jsonl", "--html", "report.html"];
        if !kept {
            eval.extend(["--labels", "labels.jsonl"]);
        }
        folder.run(&eval).expect(0, &[]);
        let page = folder.read("report.html");
        for (id, line, facets) in [
            (
                "lucky",
                2,
                "missed_lucky_guess false_pass overall-false-true",
            ),
            ("alarm", 4, "false_alarm overall-true-false"),
            (
                "unread",
                8,
                "no_verdict overall-false-none outcome-false-none",
            ),
        ] {
            let article = article(&page, id).unwrap();
            assert!(
                article.contains(&format!("verdicts.jsonl:{line}<")),
                "{article}"
            );
            assert!(
                article.contains(&format!("data-in=\"{facets}")),
                "{article}"
            );
            assert!(article.contains(&format!("Question of {id}?")), "{article}");
            assert!(article.contains(&format!("Response of {id}.")), "{article}");
        }
        assert!(
            article(&page, "lucky")
                .unwrap()
                .contains("Reason of lucky.")
        );
        assert!(
            article(&page, "unread")
                .unwrap()
                .contains("Words without a verdict.")
        );
        assert!(article(&page, "right").is_none());
        // Each count leads to as many records.
        for (facet, count) in [
            ("missed_lucky_guess", 1),
            ("false_pass", 1),
            ("false_alarm", 1),
            ("no_verdict", 1),
        ] {
            assert!(
                page.contains(&format!("<a href=\"#only-{facet}\">{count}</a>")),
                "{facet}"
            );
            assert!(page.contains(&format!("id=\"only-{facet}\"")), "{facet}");
            assert!(page.contains(&format!("#only-{facet}:target")), "{facet}");
        }
        assert!(!page.contains("#only-outcome_miss"));
        assert!(
            page.contains("3 verdicts of verdicts.jsonl differ"),
            "{page}"
        );
    }
}

#[test]
fn what_cannot_be_read_twice_is_refused() {
    let folder = Folder::new();
    small(&folder, false);
    let labels = folder.read("labels.jsonl");
    let eval = words("eval verdicts.jsonl --labels - --html report.html");
    let ran = folder.pipe(labels.as_bytes(), &eval);
    ran.expect(2, &["--html reads the rows with the texts a second time"]);
    assert!(!folder.path("report.html").exists());
}

#[test]
fn rates_are_of_the_summaries() {
    let folder = Folder::new();
    small(&folder, false);
    folder.write(
        "summary.json",
        json!({"schema": 1, "verdicts_per_second": 12.34}).to_string(),
    );
    folder.write("other.json", "{}");
    let with = |summaries: &[&str]| {
        let mut eval = vec![
            "eval",
            "verdicts.jsonl",
            "--labels",
            "labels.jsonl",
            "--html",
            "report.html",
            "--summaries",
        ];
        eval.extend(summaries);
        folder.run(&eval)
    };
    with(&["summary.json"]).expect(0, &[]);
    let page = folder.read("report.html");
    assert!(page.contains("<dt>verdicts a second</dt><dd class=\"value\">12.3</dd>"));
    with(&["other.json"]).expect(2, &["other.json is no summary"]);
    with(&["summary.json", "summary.json"])
        .expect(2, &["more files than there are files of verdicts"]);
}
