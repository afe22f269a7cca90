//! `juror view`: the pages, over loopback.

use std::fs::OpenOptions;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::common::{Folder, rollouts, row, words};
use crate::serve::{Server, ServerResponse, wait_until};

/// Text that would run, close an element, or hide, if it were not escaped.
const EVIL: &str = "</div></article></details><script>alert(1)</script><img src=x onerror=alert(2)>\"'`{{ 7*7 }}\u{202e}\u{1b}[2J&lt;";

fn view(folder: &Folder, arguments: &[&str]) -> Server {
    let all: Vec<&str> = ["view"].iter().chain(arguments).copied().collect();
    Server::spawn(folder, &all, |line| {
        Some(line.trim().strip_suffix('/')?.to_owned())
    })
}

/// The lines whose records a page shows, in its order.
fn lines(answer: &ServerResponse) -> Vec<u32> {
    assert_eq!(answer.status, 200, "{}", answer.text);
    let parts = answer.text.split("<a class=\"own\" href=\"/verdict?line=");
    let line = |part: &str| part.split('"').next().unwrap().parse().unwrap();
    parts.skip(1).map(line).collect()
}

fn verdicts(server: &Server) -> u64 {
    server.get("/summary").json()["verdicts"].as_u64().unwrap()
}

/// A verdict's line; the probability is of the outcome.
fn verdict(id: &str, trial: u32, said: Option<(bool, bool)>, probability: f64) -> Value {
    let status = if said.is_some() { "ok" } else { "unparsed" };
    let overall = said.map(|(process, outcome)| process && outcome);
    json!({"id": id, "index": 0, "trial": trial, "status": status, "process": said.map(|(process, _)| process),
        "outcome": said.map(|(_, outcome)| outcome), "perfect": null, "overall": overall,
        "reward": overall.map(|overall| f64::from(u8::from(overall))), "reason": null, "outcome_source": null, "rule_outcome": true,
        "confidence": {"process": null, "outcome": probability, "perfect": null},
        "usage": {"prompt_tokens": 10, "cached_tokens": 0, "completion_tokens": 4 + trial}})
}

/// Four samples with labels and a verdict on each, of the first one two.
fn labelled(folder: &Folder) {
    let rows = [
        (
            "a",
            "How many apples?",
            "Three apples, so 3.",
            true,
            true,
            "Math",
        ),
        (
            "b",
            "How many pears?",
            "Pears: $\\frac{6}{2}$ is 3.",
            true,
            false,
            "Math",
        ),
        (
            "c",
            "How long?",
            "Zehn K\u{fc}he, \"sagt\" er / sie.",
            false,
            false,
            "Physics & more",
        ),
        (
            "d",
            "How far?",
            "I do not know.",
            true,
            true,
            "Physics & more",
        ),
    ];
    let rows = rows.map(|(id, question, response, outcome, overall, subject)| {
        let row = json!({"id": id, "question": question, "reference_answer": "3", "response": response, "outcome_label": outcome,
            "overall_label": overall, "subject": subject});
        // As Python writes it.
        row.to_string().replace('\u{fc}', "\\u00fc").replace('/', "\\/")
    });
    folder.write("rows.jsonl", rows.join("\n"));
    let mut lucky = verdict("b", 0, Some((true, true)), 0.6);
    lucky["reason"] = "The FRACTION is fine.".into();
    let lines = [
        verdict("a", 0, Some((true, true)), 0.99),
        lucky,
        verdict("c", 0, Some((false, false)), 0.2),
        verdict("d", 0, None, 0.5),
        verdict("a", 1, Some((false, true)), 0.7),
    ];
    let lines: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
    folder.write("verdicts.jsonl", lines.concat());
}

/// The first line of each record, and what a page says of the run.
#[test]
fn rows_show_their_verdicts_and_pages_what_was_run() {
    let folder = Folder::new();
    labelled(&folder);
    let server = view(&folder, &["verdicts.jsonl", "--labels", "rows.jsonl"]);
    let page = server.get("/").text;
    let briefs: Vec<&str> = page
        .split("<span class=\"brief\">")
        .skip(1)
        .map(|part| part.split("<span class=\"gist\">").next().unwrap())
        .collect();
    assert_eq!(briefs.len(), 5, "{page}");
    for (at, parts) in [
        (
            0,
            &[
                "\"true\">process",
                "\"true\">outcome",
                "reward 1 · sure 0.99",
            ][..],
        ),
        (
            2,
            &[
                "\"false\">process",
                "\"false\">outcome",
                "reward 0 · sure 0.80",
            ],
        ),
        (3, &["<span class=\"status\">unparsed</span>", "sure 0.50"]),
    ] {
        for part in parts {
            assert!(briefs[at].contains(part), "{part}: {}", briefs[at]);
        }
    }
    assert!(
        page.contains("its journal, which says how it was judged, is not beside it · "),
        "{page}"
    );
    // Of how many, and the way on at the top too.
    let some = server.get("/?kind=no_verdict").text;
    assert!(some.contains("1 of 5 verdicts"), "{some}");
    assert!(some.contains("Filters and order (1 chosen)"), "{some}");
    let pages = server.get("/?size=2&page=2").text;
    let (before, after) = pages.split_once("<article").unwrap();
    for half in [before, after] {
        for link in ["size=2&amp;page=1\">previous", "size=2&amp;page=3\">next"] {
            assert!(half.contains(link), "{link}: {half}");
        }
    }
    let one = server.get("/verdict?line=2").text;
    let (before, _) = one.split_once("<article").unwrap();
    assert!(before.contains("verdict 2 of 5, line 2"), "{before}");

    // Without texts it is said how to give them, and why there is no verdict comes first.
    let mut failed = verdict("a", 0, None, 0.5);
    failed["status"] = "failed".into();
    failed["error"] = "the prompt does not fit".into();
    folder.write("bare.jsonl", format!("{failed}\n"));
    let bare = view(&folder, &["bare.jsonl"]).get("/").text;
    for part in [
        "without texts",
        "No texts are here: give the rows that were judged (juror view VERDICTS --rows ROWS)",
    ] {
        assert!(bare.contains(part), "{part}: {bare}");
    }
    let with = view(&folder, &["bare.jsonl", "--rows", "rows.jsonl"])
        .get("/")
        .text;
    assert!(!with.contains("No texts are here"), "{with}");
    assert!(
        with.find("gave no verdict") < with.find(">Question<"),
        "{with}"
    );
}

/// A run's pages and reports say what it was.
#[test]
fn the_run_is_told_from_its_journal() {
    let folder = Folder::new();
    folder.write(
        "in.jsonl",
        rollouts(3).replace("\"id\"", "\"outcome_label\":true,\"id\""),
    );
    let judge = words("judge in.jsonl -o out.jsonl --reward outcome");
    let ran = folder.run(&judge);
    assert!(matches!(ran.code, Some(0 | 3)), "{}", ran.stderr);
    let run = "model tiny · protocol prime · rules fallback (";
    let rest = format!(
        " · reward outcome · juror {} · 20",
        env!("CARGO_PKG_VERSION")
    );
    let page = view(&folder, &["out.jsonl", "--rows", "in.jsonl"])
        .get("/")
        .text;
    let eval = words("eval out.jsonl --labels in.jsonl --html report.html");
    folder
        .run(&eval)
        .expect(0, &["report in report.html: open it in a browser"]);
    for page in [page, folder.read("report.html")] {
        for part in [run, &rest] {
            assert!(page.contains(part), "{part}: {page}");
        }
    }
}

#[test]
fn pages_show_what_is_asked_for() {
    let folder = Folder::new();
    labelled(&folder);
    let server = view(&folder, &["verdicts.jsonl", "--labels", "rows.jsonl"]);
    let whole = server.get("/");
    assert_eq!(lines(&whole), [1, 2, 3, 4, 5]);
    for part in [
        "<b>5</b> verdicts on 4 samples",
        "ok 4",
        "unparsed 1",
        "mean reward 0.500",
        "How many apples?",
        "<math",
        "against labels",
    ] {
        assert!(whole.text.contains(part), "{part}: {}", whole.text);
    }
    // Overall: a and c are right, b, d and a's second trial are not.
    assert!(
        whole.text.contains("<td>4</td><td>40.0 ("),
        "{}",
        whole.text
    );
    for (asked, expected) in [
        ("kind=missed_lucky_guess", vec![2]),
        ("kind=false_alarm", vec![5]),
        ("kind=rules_against_judge", vec![3]),
        ("kind=no_verdict", vec![4]),
        ("kind=trials_disagree", vec![1, 5]),
        ("kind=any", vec![1, 2, 3, 4, 5]),
        ("status=unparsed", vec![4]),
        ("overall=true", vec![1, 2]),
        ("outcome=none", vec![4]),
        ("process=false&trial=0", vec![3]),
        ("rules=true&subject=Physics+%26+more", vec![3, 4]),
        ("subject=none+such", vec![]),
        ("from=0.5", vec![1, 2]),
        ("to=0.5", vec![3, 5]),
        ("sort=newest", vec![5, 4, 3, 2, 1]),
        ("sort=least_sure&status=ok", vec![2, 5, 3, 1]),
        ("sort=shortest", vec![4, 1, 5, 2, 3]),
        ("sort=most_tokens", vec![5, 1, 2, 3, 4]),
        ("q=APPLES", vec![1, 5]),
        ("q=K%C3%9CHE", vec![3]),
        ("q=%22sagt%22+er+%2F", vec![3]),
        ("q=fraction", vec![2]),
        ("q=fraction&in=response", vec![]),
        ("q=frac&in=response", vec![2]),
        ("q=b&in=id", vec![2]),
        ("q=3&in=reference&status=ok", vec![1, 2, 3, 5]),
        ("q=apples&trial=1", vec![5]),
        ("q=no+such+text", vec![]),
        ("size=2&page=2", vec![3, 4]),
        ("size=2&page=99", vec![5]),
        ("size=2&q=How", vec![1, 2]),
        ("size=2&q=How&at=2", vec![3, 4]),
    ] {
        assert_eq!(
            lines(&server.get(&format!("/?{asked}"))),
            expected,
            "{asked}"
        );
    }
    let found = server.get("/?q=How&size=2").text;
    assert!(
        found.contains("2 found in 2 of 5")
            && found.contains("href=\"/?q=How&amp;size=2&amp;at=2\""),
        "{found}"
    );
    assert!(
        server
            .get("/?q=How")
            .text
            .contains("5 found; all were looked through")
    );
    // A verdict's own page has its line and the other trials.
    let one = server.get("/verdict?line=1");
    assert_eq!(lines(&one), [5], "{}", one.text);
    assert!(one.text.contains("completion_tokens"), "{}", one.text);
    for (asked, status, part) in [
        ("/verdict?line=9", 404, "no verdict in line 9"),
        ("/verdict?line=x", 400, ""),
        ("/?status=fine", 400, "fine"),
        ("/?colour=red", 400, "colour"),
        ("/elsewhere", 404, "no such page"),
    ] {
        let answer = server.get(asked);
        assert_eq!(answer.status, status, "{asked}: {}", answer.text);
        assert!(answer.text.contains(part), "{asked}: {}", answer.text);
    }
    assert_eq!(server.request("POST", "/", &[], "q=x").status, 405);
}

#[test]
fn a_label_by_the_id_of_a_row_is_that_of_its_only_response() {
    let folder = Folder::new();
    let label =
        |id: &str, right: bool| json!({"id": id, "outcome_label": right}).to_string() + "\n";
    let of_row = |id: &str, row: &str| {
        let mut line = verdict(id, 0, Some((true, true)), 0.9);
        line["group"] = json!(row);
        line.to_string() + "\n"
    };
    folder.write("labels.jsonl", label("7", false) + &label("8", false));
    let verdicts = [
        of_row("7:0", "7"),
        of_row("8:0", "8"),
        of_row("8:1", "8"),
        of_row("8:2", "8"),
    ];
    folder.write("verdicts.jsonl", verdicts.concat());
    let server = view(&folder, &["verdicts.jsonl", "--labels", "labels.jsonl"]);
    // It is unknown whose label that of 8 is.
    let page = server.get("/?kind=outcome_miss");
    assert_eq!(lines(&page), [1], "{}", page.text);
    let summary = server.get("/summary").json();
    let html = summary["html"].as_str().unwrap();
    assert!(html.contains("outcome</th><td>1</td><td>0.0 "), "{html}");
}

#[test]
fn kept_keys_and_tables_do_without_rows() {
    let folder = Folder::new();
    folder.write("rows.jsonl", rollouts(6));
    let judge = |out: &str| {
        let judge =
            format!("judge rows.jsonl --rules only --quiet --keep question,response -o {out}");
        let judge = words(&judge);
        folder.run(&judge).expect(0, &[]);
    };
    judge("verdicts.jsonl");
    judge("verdicts.csv");
    std::fs::remove_file(folder.path("verdicts.csv.journal")).unwrap();
    let server = view(&folder, &["verdicts.jsonl"]);
    assert_eq!(lines(&server.get("/?q=Tom+has+3")).len(), 1);
    assert!(!server.get("/").text.contains("against labels"));
    let server = view(&folder, &["verdicts.csv", "--rows", "rows.jsonl"]);
    assert_eq!(lines(&server.get("/?q=Tom+has+3&in=question")).len(), 1);
    assert_eq!(lines(&server.get("/?outcome=false")).len(), 2);
}

#[test]
fn what_cannot_be_viewed_is_said() {
    let folder = Folder::new();
    folder.write("rows.jsonl", rollouts(2));
    folder.write("bare.jsonl", rollouts(2));
    labelled(&folder);
    for (arguments, part) in [
        (vec!["none.jsonl"], "none.jsonl.journal"),
        (
            vec!["bare.jsonl"],
            "bare.jsonl:1: no verdict of `juror judge`",
        ),
        (vec!["verdicts.jsonl", "--rows", "none.jsonl"], "none.jsonl"),
        (
            vec!["verdicts.jsonl", "--label-columns", "x=y"],
            "--label-columns",
        ),
    ] {
        let all: Vec<&str> = ["view"].into_iter().chain(arguments).collect();
        folder.run(&all).expect(2, &[part]);
    }
}

#[test]
fn hostile_content_stays_text() {
    let folder = Folder::new();
    folder.write(
        "rows.jsonl",
        row(
            EVIL,
            EVIL,
            EVIL,
            &format!("{EVIL} $\\text{{{EVIL}}}$ $$\\href{{javascript:alert(3)}}{{x}}$$"),
        ),
    );
    let mut line = verdict(EVIL, 0, None, 0.5);
    line["reason"] = EVIL.into();
    line["error"] = EVIL.into();
    line["raw"] = json!({"completion": EVIL});
    line["input"] = json!({"subject": EVIL});
    folder.write(
        "verdicts.jsonl",
        format!("{line}\nnot a verdict <script>alert(1)</script>\n"),
    );
    let server = view(&folder, &["verdicts.jsonl", "--rows", "rows.jsonl"]);
    let echoed: Vec<String> = EVIL.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let echoed = echoed.concat();
    let asked = ["q", "status", "subject"].map(|key| format!("/?{key}={echoed}"));
    let asked = asked.into_iter().chain([
        format!("/?{echoed}=1"),
        "/".into(),
        "/verdict?line=1".into(),
    ]);
    for path in asked {
        let page = server.get(&path).text;
        if !path.contains("subject") {
            for part in ["&lt;script&gt;", "{{ 7*7 }}", "\\u{202e}"] {
                assert!(page.contains(part), "{path}: {part}: {page}");
            }
        }
        for part in [
            "<script>",
            "<img",
            "href=\"javascript",
            "\u{1b}",
            "\u{202e}",
        ] {
            assert!(!page.contains(part), "{path}: {part}: {page}");
        }
    }
    let summary = server.get("/summary").json();
    assert!(
        !summary["html"].as_str().unwrap().contains("<script"),
        "{summary}"
    );
}

/// The head and the body of the answer to a request as it is.
fn raw(server: &Server, request: &str) -> String {
    let address = server.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let request = request.replace("ADDRESS", address);
    write!(stream, "{request}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn other_names_and_other_pages_are_refused() {
    let folder = Folder::new();
    labelled(&folder);
    let server = view(&folder, &["verdicts.jsonl"]);
    let own = raw(&server, "GET / HTTP/1.1\r\nHost: ADDRESS");
    assert!(own.starts_with("HTTP/1.1 200"), "{own}");
    let head = own.split("\r\n\r\n").next().unwrap().to_lowercase();
    for part in [
        "content-security-policy: default-src 'none'",
        "script-src 'self'",
        "x-content-type-options: nosniff",
        "cache-control: no-store",
        // Without a referrer a browser sends a form with the origin `null`.
        "referrer-policy: same-origin",
    ] {
        assert!(head.contains(part), "{part}: {head}");
    }
    for request in [
        "GET / HTTP/1.1\r\nHost: evil.example",
        "GET / HTTP/1.1\r\nHost: 127.0.0.1.evil.example",
        "GET /summary HTTP/1.1\r\nHost: ADDRESS\r\nOrigin: http://evil.example",
        "POST / HTTP/1.1\r\nHost: ADDRESS\r\nSec-Fetch-Site: cross-site\r\nContent-Length: 0",
    ] {
        let answer = raw(&server, request);
        assert!(answer.starts_with("HTTP/1.1 403"), "{request}: {answer}");
        assert!(!answer.contains("verdicts"), "{answer}");
    }
    #[cfg(unix)]
    {
        server.terminate();
        assert_eq!(server.ended().0, Some(0));
    }
}

#[test]
fn a_journal_is_followed_while_it_grows() {
    let folder = Folder::new();
    let line = |number: u32| {
        let mut line = verdict(&format!("r{number}"), 0, Some((true, true)), 0.9).to_string();
        line.truncate(line.len() - 1);
        format!("{line},\"check\":\"0123456789abcdef\"}}\n")
    };
    folder.write(
        "out.jsonl.journal",
        format!(
            "{{\"manifest\":{{}},\"check\":\"0123456789abcdef\"}}\n{}",
            line(1)
        ),
    );
    let server = view(&folder, &["out.jsonl"]);
    let append = |text: &str| {
        let mut file = OpenOptions::new()
            .append(true)
            .open(folder.path("out.jsonl.journal"))
            .unwrap();
        file.write_all(text.as_bytes()).unwrap();
    };
    assert_eq!(verdicts(&server), 1);
    let next = line(2);
    append(&next[..50]);
    std::thread::sleep(std::time::Duration::from_millis(1200));
    assert_eq!(verdicts(&server), 1, "half a line is none");
    append(&next[50..]);
    wait_until("the line is whole", || verdicts(&server) == 2);
    append("{\"input\":{}}\nneither\n");
    append(&line(3));
    wait_until("it goes on behind a bad line", || verdicts(&server) == 3);
    let page = server.get("/?sort=newest");
    assert_eq!(lines(&page), [6, 3, 2]);
    assert!(
        page.text
            .contains("1 line is no verdict, and is left out: line 5: "),
        "{}",
        page.text
    );
    assert!(
        !server
            .get("/verdict?line=2")
            .text
            .contains("0123456789abcdef")
    );
    // What a server left open is judged again.
    let of_trial = |status: &str, open: bool| {
        let mut line = verdict("r4", 0, None, 0.9);
        line["status"] = json!(status);
        line["open"] = json!(open);
        line.to_string() + "\n"
    };
    append(&of_trial("failed", true));
    wait_until("it failed", || verdicts(&server) == 4);
    assert!(server.get("/summary").text.contains("failed"));
    append(&line(5));
    wait_until("another is judged", || verdicts(&server) == 5);
    append(&of_trial("failed", true));
    append(&of_trial("unparsed", false));
    wait_until("it is judged", || {
        !server.get("/summary").text.contains("failed")
    });
    assert_eq!(verdicts(&server), 5);
    assert_eq!(lines(&server.get("/?status=unparsed")), [10]);
    for (number, id) in [(10, "r4"), (8, "r5")] {
        let page = server.get(&format!("/verdict?line={number}"));
        assert!(page.status == 200 && page.text.contains(id), "{number}");
    }
    // A page that is looked at is told of it.
    let counts: Value = serde_json::from_str(&server.get("/summary").text).unwrap();
    assert_eq!(counts["read"], json!(7));
    // A run that is begun anew.
    folder.write("out.jsonl.journal", "{\"manifest\":{}}\n");
    wait_until("it is read anew", || verdicts(&server) == 0);
    append(&line(9));
    wait_until("it is followed again", || verdicts(&server) == 1);
    assert!(server.get("/").text.contains("r9"));
}

#[test]
fn a_run_is_seen_while_it_goes_on() {
    let folder = Folder::new();
    folder.write("rows.jsonl", rollouts(200));
    let mut judge = folder
        .juror(&["judge", "rows.jsonl", "-o", "verdicts.jsonl", "--quiet"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until("it has begun", || {
        folder.has("verdicts.jsonl.journal") && !folder.read("verdicts.jsonl.journal").is_empty()
    });
    let server = view(&folder, &["verdicts.jsonl", "--rows", "rows.jsonl"]);
    assert!(
        judge
            .wait()
            .unwrap()
            .code()
            .is_some_and(|code| [0, 3].contains(&code))
    );
    wait_until("all are there", || verdicts(&server) == 200);
    // Another run behind it, of more rows: the journal grows again.
    folder.write("rows.jsonl", rollouts(230));
    folder.run(&["judge", "rows.jsonl", "-o", "verdicts.jsonl", "--quiet"]);
    wait_until("more are there", || verdicts(&server) == 230);
    assert_eq!(
        lines(&server.get("/?q=Tom+has+3+apples&in=question")).len(),
        1
    );
}
