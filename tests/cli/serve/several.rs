//! Several judges behind one server: their verdicts are those of `juror judge`.

use serde_json::{Value, json};

use super::{Server, examples, sample};
use crate::common::{Folder, words};

/// The rows of the examples.
fn samples() -> Vec<Value> {
    let lines = examples();
    let rows = lines.lines().filter(|line| !line.trim().is_empty());
    rows.map(|row| serde_json::from_str(row).unwrap()).collect()
}

/// The verdicts of a server on the examples, by place, and what it says of its judge.
fn served(server: &Server) -> (Vec<Value>, Value) {
    let answer = server
        .post("/v1/judge", &json!({"samples": samples()}))
        .ok();
    let verdicts = answer["verdicts"].as_array().unwrap().clone();
    (verdicts, answer["judge"].clone())
}

/// What must be the same of a verdict, however it was asked for.
const SAME: [&str; 9] = [
    "id", "index", "status", "process", "outcome", "overall", "reward", "judge", "votes",
];

#[track_caller]
fn expect_same(served: &[Value], files: &[Value]) {
    assert_eq!(served.len(), files.len());
    for (one, other) in served.iter().zip(files) {
        for key in SAME {
            assert_eq!(one[key], other[key], "{key}: {one} {other}");
        }
    }
}

#[test]
fn a_cascade_serves_what_it_writes_into_files() {
    let folder = Folder::new();
    folder.write_model();
    folder.write("in.jsonl", examples());
    // Wrong ones have their probabilities spread: some are escalated, and some are not.
    let range = words("--cascade tiny,model --escalate 0..0.5 --audit 30%");
    let judge = [&["judge", "in.jsonl", "-o", "out.jsonl"][..], &range].concat();
    folder.run(&judge).expect(0, &["model was asked about"]);
    let files = folder.lines("out.jsonl");
    let of = |name: &str| files.iter().filter(|one| one["judge"] == name).count() as u64;
    assert!(of("tiny") > 0 && of("model") > 0);

    let server = Server::start(&folder, &range);
    let (verdicts, judge) = served(&server);
    expect_same(&verdicts, &files);
    for (one, other) in verdicts.iter().zip(&files) {
        assert_eq!(
            one["usage"]["prompt_tokens"],
            other["usage"]["prompt_tokens"]
        );
    }
    assert_eq!(judge["model"], "tiny,model");
    assert_eq!(judge["judges"][1]["model"], "model");
    assert_eq!(judge["protocol"], judge["judges"][0]["protocol"]);
    assert_eq!(judge["judges"][1]["name"], "model");
    let together = judge["together"].as_str().unwrap();
    assert!(together.contains("0..0.5, audit 0.3"), "{together}");
    let asked = ["juror:cascade_unsure_total", "juror:cascade_audited_total"];
    let asked: u64 = asked.iter().map(|name| server.metric(name)).sum();
    assert_eq!(asked, of("model"));

    let tokens = |which: &str| server.metric(&format!("juror:cascade_{which}_tokens_total"));
    assert!(tokens("first") > tokens("second") && tokens("second") > 0);
    // Both sleep, and both come back.
    server.post("/sleep", &json!({})).ok();
    assert_eq!(server.get("/is_sleeping").ok()["is_sleeping"], true);
    server.post("/wake_up", &json!({})).ok();
    let ready = server.get("/ready").ok();
    assert_eq!(ready["status"], "ready");
    expect_same(&served(&server).0, &files);
    server
        .post(
            "/v1/chat/completions",
            &json!({"model": "tiny", "messages": []}),
        )
        .expect(404, &["several judges"]);
}

#[test]
fn a_panel_serves_what_it_writes_into_files() {
    let folder = Folder::new();
    folder.write("in.jsonl", examples());
    folder.write(
        "panel.toml",
        "rule = 'weighted'\n[[judges]]\nmodel = 'tiny'\n[[judges]]\nmodel = 'tiny'\nname = 'outcome'\nprotocol = 'prime-outcome'\n\
         weight = 3\n[[judges]]\nmodel = 'tiny'\nname = 'hot'\noptions = ['--temperature', '2', '--seed', '5']\n",
    );
    let panel = ["--panel", "panel.toml", "--reward", "soft"];
    let ran = folder.run(&[&["judge", "in.jsonl", "-o", "out.jsonl"][..], &panel].concat());
    assert!(matches!(ran.code, Some(0 | 3)), "{}", ran.stderr);
    let files = folder.lines("out.jsonl");
    let server = Server::start(&folder, &panel);
    // Two at once, one of them with a row that cannot be read.
    let (first, judge) = served(&server);
    expect_same(&first, &files);
    assert_eq!(judge["judges"].as_array().unwrap().len(), 3);
    assert_eq!(judge["model"], "tiny");
    let mut rows = samples();
    rows.truncate(2);
    rows.insert(1, json!({"question": 5}));
    let body = json!({"samples": rows, "skip_bad": true});
    let answer = server.post("/v1/judge", &body).ok();
    let statuses = |at: usize| answer["verdicts"][at]["status"].clone();
    assert_eq!(statuses(1), "failed");
    assert_eq!(
        [statuses(0), statuses(2)],
        [&files[0], &files[1]].map(|one| one["status"].clone())
    );
    let votes = answer["verdicts"][2]["votes"].as_array().unwrap();
    assert_eq!(votes.len(), 3);
    // A trainer has its reward.
    let row = sample(1);
    let text = |key: &str| row[key].as_str().unwrap();
    let body = json!({
        "query": [format!("{}{}", text("question"), text("response"))],
        "prompts": [text("question")],
        "labels": [text("reference")],
    });
    let rewards = server.post("/get_reward", &body).ok();
    let judged = server.post("/v1/judge", &json!({"samples": [row]})).ok();
    assert!(judged["verdicts"][0]["reward"].is_f64());
    assert_eq!(rewards["rewards"][0], judged["verdicts"][0]["reward"]);
}

#[test]
fn a_served_panel_needs_enough_votes_too() {
    let folder = Folder::new();
    folder.write(
        "panel.toml",
        "[[judges]]\nmodel = 'tiny'\n[[judges]]\nmodel = 'tiny'\nname = 'cut'\noptions = ['--free', '--max-new-tokens', '1']\n",
    );
    let server = Server::start(&folder, &["--panel", "panel.toml"]);
    let body = json!({"samples": [sample(0)]});
    let verdict = &server.post("/v1/judge", &body).ok()["verdicts"][0];
    assert_eq!(verdict["status"], "unsure", "{verdict}");
    assert!(verdict["reward"].is_null());
    assert!(
        verdict["error"]
            .as_str()
            .unwrap()
            .starts_with("1 of 2 judges have voted, and 2 must: cut is unparsed")
    );
}

#[test]
fn commands_are_carried_out_by_all_one_after_another() {
    let folder = Folder::new();
    folder.write_model();
    let server = Server::start(&folder, &["--cascade", "tiny,model", "--escalate", "0..1"]);
    server.wait_until_ready();
    // Samples travel meanwhile, and all of them are judged.
    let judging = {
        let client = server.client();
        std::thread::spawn(move || {
            client
                .post("/v1/judge", &json!({"samples": samples()}))
                .ok()
        })
    };
    let commands: Vec<_> = (0..8)
        .map(|at| {
            let client = server.client();
            let path = if at % 2 == 0 { "/sleep" } else { "/wake_up" };
            std::thread::spawn(move || client.post(path, &json!({})).status)
        })
        .collect();
    for command in commands {
        assert_eq!(command.join().unwrap(), 200);
    }
    server.post("/wake_up", &json!({})).ok();
    assert_eq!(server.get("/ready").status, 200);
    let verdicts = judging.join().unwrap();
    let verdicts = verdicts["verdicts"].as_array().unwrap();
    assert!(verdicts.iter().all(|verdict| verdict["judge"] == "model"));
}

#[cfg(unix)]
#[test]
fn it_ends_while_samples_are_between_two_judges() {
    let folder = Folder::new();
    folder.write_model();
    let server = Server::start(&folder, &["--cascade", "tiny,model", "--escalate", "0..1"]);
    server.wait_until_ready();
    let client = server.client();
    let asked =
        std::thread::spawn(move || client.post("/v1/judge", &json!({"samples": samples()})));
    super::wait_until("the second is asked", || {
        server.metric("juror:cascade_second_tokens_total") > 0
            || server.metric("vllm:num_requests_running") > 0
    });
    server.terminate();
    let (code, said) = server.ended();
    assert_eq!(code, Some(0), "{said}");
    assert!(matches!(asked.join().unwrap().status, 200 | 503));
}

#[test]
fn a_judge_that_cannot_be_loaded_is_named() {
    let folder = Folder::new();
    folder.write_model();
    // What its weights lack is found when they are loaded.
    let config = folder.read("model/config.json");
    let deeper = config.replace("\"num_hidden_layers\": 12", "\"num_hidden_layers\": 13");
    assert_ne!(config, deeper);
    folder.write("model/config.json", deeper);
    let server = Server::start(&folder, &["--cascade", "tiny,model"]);
    let (code, said) = server.ended();
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("the judge has ended: model: "), "{said}");
}

#[test]
fn what_cannot_be_is_refused_before_it_listens() {
    let folder = Folder::new();
    folder.write_model();
    folder.write("panel.toml", "[[judges]]\nmodel = 'tiny'\n");
    folder.write(
        "rubrics.toml",
        "[[judges]]\nmodel = 'tiny'\nprotocol = 'rubric'\noptions = ['--rubric', 'a.toml']\n[[judges]]\nmodel = 'tiny'\n\
         name = 'b'\nprotocol = 'rubric'\n",
    );
    folder.write(
        "a.toml",
        "[[criteria]]\nname = 'clear'\ntext = 'It is clear.'\n",
    );
    let serve = |more: &[&str]| folder.run(&[&["serve", "--port", "0"], more].concat());
    serve(&["--cascade", "tiny"]).expect(2, &["two judges"]);
    serve(&["--cascade", "tiny,tiny"]).expect(2, &["names tiny twice"]);
    serve(&["--cascade", "tiny,model", "--model", "tiny"]).expect(2, &["cannot be used with"]);
    serve(&["--cascade", "tiny,model", "--rules", "only"]).expect(2, &["--rules only"]);
    serve(&["--cascade", "tiny,model", "--protocol", "first-error"])
        .expect(2, &["no probabilities"]);
    serve(&["--cascade", "tiny,none"]).expect(2, &["none"]);
    serve(&["--cascade", "tiny,model", "--tensor-parallel", "2"])
        .expect(2, &["--tensor-parallel is for one judge of several"]);
    // What is for a server is for that one of the two that is behind one.
    let nobody = "tiny,http://127.0.0.1:1/v1#m";
    let ran = serve(&["--cascade", nobody, "--max-concurrency", "3"]);
    assert!(
        ran.stderr.contains("127.0.0.1:1") && !ran.stderr.contains("--max-"),
        "{}",
        ran.stderr
    );
    serve(&["--escalate", "0.1..0.9"]).expect(2, &["--cascade"]);
    serve(&["--audit", "5%"]).expect(2, &["--cascade"]);
    serve(&["--panel", "panel.toml"]).expect(2, &["two judges or more"]);
    folder.write(
        "own.toml",
        "[[judges]]\nmodel = 'tiny'\n[[judges]]\nmodel = 'tiny'\nname = 'b'\noptions = ['--quiet']\n",
    );
    serve(&["--panel", "own.toml"]).expect(2, &["b: options of the server"]);
    folder.write(
        "trials.toml",
        "[[judges]]\nmodel = 'tiny'\n[[judges]]\nmodel = 'tiny'\nname = 'b'\noptions = ['--trials', '4']\n",
    );
    serve(&["--panel", "trials.toml"]).expect(2, &["--trials is for files"]);
    serve(&["--panel", "rubrics.toml"]).expect(2, &["different rubrics"]);
}
