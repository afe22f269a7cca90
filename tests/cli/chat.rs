//! What `juror` makes of a model's chat template and thinking, from the command line to the verdict.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use crate::common::{Folder, row, words};
use serde_json::{Value, json};

const CHATML: &str = "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + \
    '<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

fn tiny(file: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("models/tiny")
        .join(file)
}

/// The tiny judge in the folder `model`, with another chat template, and other names for its added tokens.
fn model(template: &str, names: &[(&str, &str)]) -> Folder {
    let folder = Folder::new();
    fs::create_dir(folder.path("model")).unwrap();
    for file in ["config.json", "generation_config.json", "model.safetensors"] {
        fs::copy(tiny(file), folder.path("model").join(file)).unwrap();
    }
    let mut tokenizer = fs::read_to_string(tiny("tokenizer.json")).unwrap();
    for (old, new) in names {
        tokenizer = tokenizer.replace(&format!("\"{old}\""), &format!("\"{new}\""));
    }
    folder.write("model/tokenizer.json", tokenizer);
    let config = json!({"eos_token": "<|im_end|>", "pad_token": "<|endoftext|>", "bos_token": null, "chat_template": template});
    folder.write("model/tokenizer_config.json", config.to_string());
    folder.write(
        "in.jsonl",
        row(
            "a",
            "Tom has 2 apples and buys 3 more. How many apples has he now?",
            "5",
            "He has 2 + 3 = 5.\n#### 5",
        ),
    );
    folder
}

/// Rendering a prompt with these options ends with exit code 2 and a message that holds `part`.
#[track_caller]
fn refuse(folder: &Folder, arguments: &[&str], part: &str) {
    let command = [
        &["prompts", "render", "in.jsonl", "--model", "model"],
        arguments,
    ]
    .concat();
    folder.run(&command).expect(2, &[part]);
}

/// The prompt as `juror prompts render` gives it, and its tokens.
fn render(folder: &Folder, arguments: &[&str]) -> (String, Vec<u32>) {
    let command = [
        &["prompts", "render", "in.jsonl", "--model", "model", "--raw"],
        arguments,
    ]
    .concat();
    let ran = folder.run(&command);
    ran.expect(0, &[]);
    let line = ran.lines().remove(0);
    assert_eq!(line["id"], "a");
    (
        line["prompt"].as_str().unwrap().to_owned(),
        serde_json::from_value(line["prompt_tokens"].clone()).unwrap(),
    )
}

fn judge(folder: &Folder, arguments: &[&str]) -> Value {
    let command = [
        &["judge", "in.jsonl", "--model", "model", "--raw", "-q"],
        arguments,
    ]
    .concat();
    let ran = folder.run(&command);
    assert!(matches!(ran.code, Some(0 | 3)), "{}", ran.stderr);
    ran.lines().remove(0)
}

#[test]
fn options_reach_the_template_or_are_refused() {
    let thinks = format!(
        "{CHATML}{{% if enable_thinking is defined and not enable_thinking %}}<think>\n\n</think>\n\n{{% endif %}}"
    );
    let folder = model(&thinks, &[]);
    let (plain, _) = render(&folder, &[]);
    assert!(plain.ends_with("<|im_start|>assistant\n"));
    assert_eq!(render(&folder, &["--thinking", "on"]).0, plain);
    let (off, _) = render(&folder, &["--thinking", "off"]);
    assert_eq!(off, format!("{plain}<think>\n\n</think>\n\n"));
    let (system, _) = render(&folder, &["--system-prompt", "Be strict."]);
    assert_eq!(
        system,
        format!("<|im_start|>system\nBe strict.<|im_end|>\n{plain}")
    );
    refuse(
        &folder,
        &["--reasoning-effort", "high"],
        "--reasoning-effort changes nothing",
    );
    refuse(&folder, &["--thinking", "maybe"], "on, off");
    refuse(&folder, &["--chat-template", "none.jinja"], "none.jinja");
    folder.write(
        "own.jinja",
        "{{ reasoning_effort | default('medium') }}: {{ messages[0].content }}",
    );
    let (own, _) = render(
        &folder,
        &["--chat-template", "own.jinja", "--reasoning-effort", "low"],
    );
    assert!(own.starts_with("low: "));
    refuse(
        &folder,
        &["--chat-template", "own.jinja", "--thinking", "off"],
        "--thinking changes nothing",
    );
    folder.write("own.jinja", "{{ raise_exception('no system message here') if messages[0].role == 'system' }}{{ messages[0].content }}");
    refuse(
        &folder,
        &["--chat-template", "own.jinja", "--system-prompt", "x"],
        "no system message here",
    );
}

#[test]
fn a_run_is_resumed_with_what_it_was_begun_with() {
    let folder = model(
        &format!("{{{{ strftime_now('%d %b %Y') }}}}\n{CHATML}"),
        &[],
    );
    let run = |arguments: &[&str]| {
        let command = [
            &words("judge in.jsonl --model model -o out.jsonl --raw -q --max-new-tokens 5"),
            arguments,
        ]
        .concat();
        folder.run(&command)
    };
    assert!(matches!(run(&["--date", "2026-02-03"]).code, Some(0 | 3)));
    let prompt = folder.lines("out.jsonl")[0]["raw"]["prompt"].clone();
    assert!(prompt.as_str().unwrap().starts_with("03 Feb 2026\n"));
    // On another day the same run goes on; with another date it is another run.
    assert!(matches!(run(&[]).code, Some(0 | 3)));
    assert_eq!(folder.lines("out.jsonl")[0]["raw"]["prompt"], prompt);
    run(&["--date", "2026-02-04"]).expect(
        2,
        &["chat.date: \"2026-02-03\" in the journal, \"2026-02-04\" now"],
    );
    run(&["--system-prompt", "x"]).expect(
        2,
        &["chat.system_prompt: nothing in the journal, \"x\" now"],
    );
    run(&["--thinking-style", "none"]).expect(2, &["chat.thinking_style"]);
}

#[test]
fn a_verdict_counts_in_the_final_channel_alone() {
    let names = [
        ("<|im_start|>", "<|start|>"),
        ("</reference_answer>", "<|channel|>"),
        ("<reference_answer>", "<|message|>"),
    ];
    let template = |channel: &str| {
        format!(
            "{{% for message in messages %}}{{{{ '<|start|>' + message['role'] + '\\n' + message['content'] + \
             '<|im_end|>\\n' }}}}{{% endfor %}}{{% if add_generation_prompt %}}<|start|>assistant{channel}\n{{% endif %}}"
        )
    };
    let answer = judge(
        &model(&template("<|channel|>final<|message|>"), &names),
        &[],
    );
    assert_eq!(answer["status"], "ok", "{answer}");
    assert!(answer["confidence"]["process"].is_number(), "{answer}");
    let analysis = judge(
        &model(&template("<|channel|>analysis<|message|>"), &names),
        &["--max-new-tokens", "30"],
    );
    assert_eq!(analysis["status"], "unparsed", "{analysis}");
    assert!(
        analysis["error"]
            .as_str()
            .unwrap()
            .starts_with("thinking not finished"),
        "{analysis}"
    );
    assert!(!analysis["raw"]["completion"].as_str().unwrap().is_empty());
}

#[test]
fn thinking_in_tags_of_a_models_own_does_not_count() {
    let opened = format!("{CHATML}{{% if add_generation_prompt %}}[THINK]\n{{% endif %}}");
    let folder = model(&opened, &[]);
    let line = judge(
        &folder,
        &[
            "--thinking-tags",
            "[THINK],[/THINK]",
            "--max-new-tokens",
            "30",
        ],
    );
    assert_eq!(line["status"], "unparsed", "{line}");
    assert!(
        line["error"]
            .as_str()
            .unwrap()
            .starts_with("thinking not finished"),
        "{line}"
    );
    folder
        .run(&[
            "judge",
            "in.jsonl",
            "--model",
            "model",
            "--thinking-tags",
            "[THINK]",
        ])
        .expect(2, &["the opening one, a comma, the closing one"]);
    folder
        .run_words("judge in.jsonl --model model --thinking-style harmony")
        .expect(2, &["<|channel|>"]);
}

#[test]
fn recommendations_are_followed_overridden_and_those_without_a_place_named() {
    let folder = model(CHATML, &[]);
    folder.write(
        "model/generation_config.json",
        json!({"do_sample": true, "temperature": 0.6, "top_k": 20, "top_p": 0.95,
        "repetition_penalty": 1.05, "eos_token_id": [1402, 1400], "max_new_tokens": 12})
        .to_string(),
    );
    let run = |out: &str, arguments: &[&str]| {
        let command = [
            &["judge", "in.jsonl", "--model", "model", "-o", out],
            arguments,
        ]
        .concat();
        folder.run(&command)
    };
    let ran = run("a.jsonl", &[]);
    assert!(
        ran.stderr
            .contains("repetition_penalty 1.05 is not applied"),
        "{}",
        ran.stderr
    );
    let sampling =
        |out: &str| folder.lines(&format!("{out}.journal"))[0]["manifest"]["sampling"].clone();
    assert_eq!(sampling("a.jsonl")["top_k"], 20);
    assert_eq!(sampling("a.jsonl")["max_new_tokens"], 12);
    run(
        "b.jsonl",
        &words("--temperature 0 --top-k 0 --top-p 1 --max-new-tokens 9"),
    );
    assert_eq!(
        sampling("b.jsonl"),
        json!({"temperature": 0.0, "top_k": null, "top_p": null, "min_p": null, "max_new_tokens": 9})
    );
    folder.write("model/generation_config.json", r#"{"temperature": "hot"}"#);
    run("c.jsonl", &[]).expect(2, &["temperature (\"hot\") is not a number"]);
}

#[test]
fn a_prompt_has_the_tokens_that_transformers_gives_it() {
    // A tokenizer that puts a space before each text: the fields must not get one.
    let golden =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/chat/tokenizers/prepend.json");
    let golden: Value = serde_json::from_str(&fs::read_to_string(golden).unwrap()).unwrap();
    let case = &golden["cases"][0];
    let text = |at: usize| case["stretches"][at][1].as_str().unwrap();
    let folder = model("{{ messages[0].content }}", &[]);
    folder.write("model/tokenizer.json", golden["tokenizer"].to_string());
    folder.write(
        "model/tokenizer_config.json",
        r#"{"add_bos_token": true, "bos_token": "<s>", "eos_token": "</s>"}"#,
    );
    folder.write(
        "prompt.txt",
        format!(
            "{}{{{{question}}}}{}{{{{student_answer}}}}{}",
            text(0),
            text(2),
            text(4)
        ) + "\n{{reference_answer}}\n",
    );
    folder.write("template.jinja", "{{ messages[0].content }}");
    folder.write("in.jsonl", row("a", text(1), "x", text(3)));
    let (prompt, tokens) = render(
        &folder,
        &words("--prompt prompt.txt --chat-template template.jinja"),
    );
    let whole: String = (0..5).map(text).collect();
    assert_eq!(prompt, format!("{whole}\nx"));
    let theirs: Vec<u32> = serde_json::from_value(case["ids"].clone()).unwrap();
    assert_eq!(tokens[..theirs.len()], theirs);
}

#[test]
fn a_hostile_template_is_refused_by_every_command() {
    let folder = model(
        "{{ 'a\\nb' | indent(10**10) }}{{ messages[0].content }}",
        &[],
    );
    let refused = "more work or memory than a chat template may";
    for command in [
        &["judge", "in.jsonl", "--model", "model", "-q"][..],
        &["prompts", "render", "in.jsonl", "--model", "model"],
        &["prompts", "show", "--model", "model"],
    ] {
        folder.run(command).expect(2, &[refused]);
    }
    let shown = folder.run(&["models", "show", "model"]);
    assert!(
        shown.stdout.contains(refused),
        "{}{}",
        shown.stdout,
        shown.stderr
    );
}

#[test]
fn template_variables_reach_the_template_the_manifest_and_nothing_else() {
    let folder = model(
        &format!("{CHATML}{{% if budget is defined %}}<budget>{{{{ budget + 1 }}}}{{% endif %}}"),
        &[],
    );
    let (plain, _) = render(&folder, &[]);
    let (budget, _) = render(&folder, &["--template-variable", "budget=512"]);
    assert_eq!(budget, format!("{plain}<budget>513"));
    refuse(
        &folder,
        &["--template-variable", "budgt=512"],
        "--template-variable budgt=… changes nothing",
    );
    refuse(&folder, &["--template-variable", "budget"], "NAME=VALUE");
    refuse(
        &folder,
        &["--template-variable", "messages=[]"],
        "sets the variable",
    );
    let run = |arguments: &[&str]| {
        let command = [
            &words("judge in.jsonl --model model -o out.jsonl -q --max-new-tokens 5"),
            arguments,
        ]
        .concat();
        folder.run(&command)
    };
    assert!(matches!(
        run(&["--template-variable", "budget=1"]).code,
        Some(0 | 3)
    ));
    assert!(matches!(
        run(&["--template-variable", "budget=1"]).code,
        Some(0 | 3)
    ));
    run(&["--template-variable", "budget=2"]).expect(2, &["chat.variables.budget"]);
    run(&[]).expect(2, &["chat"]);
}

/// Tags around thinking in published models' files.
const STYLES: [(&str, &str); 9] = [
    ("[THINK]", "[/THINK]"),
    ("<seed:think>", "</seed:think>"),
    ("<|channel>", "<channel|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("◁think▷", "◁/think▷"),
    ("<thought>", "</thought>"),
    ("<think_fast>", "</think_fast>"),
    ("<unused94>", "<unused95>"),
];

#[test]
fn every_style_of_thinking_is_found_in_the_vocabulary_or_in_the_template() {
    for (open, close) in STYLES {
        let tokens = [("<reference_answer>", open), ("</reference_answer>", close)];
        for names in [&tokens[..], &[]] {
            // Where no token has the tag's name, the template names it.
            let named = if names.is_empty() {
                format!(
                    "{{% if messages[0].thoughts is defined %}}{open}{{{{ messages[0].thoughts }}}}{close}{{% endif %}}"
                )
            } else {
                String::new()
            };
            let template = |prompt: &str| format!("{named}{CHATML}{prompt}");
            let thinks = model(&template(open), names);
            let answer = judge(&thinks, &["--max-new-tokens", "24"]);
            assert_eq!(answer["status"], "unparsed", "{open}: {answer}");
            let error = answer["error"].as_str().unwrap();
            assert!(
                error.starts_with("thinking not finished"),
                "{open}: {error}"
            );
            let shown = thinks.run(&["models", "show", "model"]);
            assert!(
                shown.stdout.contains(&format!("{open} … {close}")),
                "{}",
                shown.stdout
            );
            let done = model(&template(&format!("{open}\n{close}")), names);
            let answer = judge(&done, &["--max-new-tokens", "160"]);
            let error = answer["error"].as_str().unwrap_or_default();
            assert!(
                !error.starts_with("thinking not finished"),
                "{open}: {error}"
            );
        }
    }
}

#[test]
fn what_models_show_says_of_thinking_is_what_happens() {
    for (switch, says, on, off) in [
        ("", "--thinking is refused", None, None),
        ("{# enable_thinking #}", "--thinking is refused", None, None),
        (
            "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% endif %}",
            "--thinking off gives another prompt",
            Some(true),
            Some(false),
        ),
        (
            "{% if thinking is defined and thinking %}<think>\n{% endif %}",
            "--thinking on gives another prompt",
            Some(false),
            Some(true),
        ),
        (
            "thinking {{ '/think' if enable_thinking else '/no_think' }}",
            "--thinking on gives another prompt",
            Some(false),
            Some(true),
        ),
        (
            "{% if enable_thinking is defined %}{{ '<think>' if enable_thinking else '</think>' }}{% endif %}",
            "--thinking on and --thinking off each give another prompt",
            Some(false),
            Some(false),
        ),
    ] {
        let folder = model(&format!("{CHATML}{switch}"), &[]);
        let shown = folder.run(&["models", "show", "model"]);
        assert!(shown.stdout.contains(says), "{switch}: {}", shown.stdout);
        let usual = render(&folder, &[]).0;
        for (value, same) in [("on", on), ("off", off)] {
            if let Some(same) = same {
                let prompt = render(&folder, &["--thinking", value]).0;
                assert_eq!(prompt == usual, same, "{switch}: {value}");
            } else {
                let command = format!("prompts render in.jsonl --model model --thinking {value}");
                let command = words(&command);
                folder
                    .run(&command)
                    .expect(2, &["--thinking changes nothing"]);
            }
        }
    }
}

/// What tuning a base model leaves: every file names the end of its texts, and the model was taught to end turns as its template does.
#[test]
fn a_judge_tuned_from_a_base_model_stops_where_its_template_ends_a_turn() {
    let folder = model(CHATML, &[]);
    let plain = judge(&folder, &[]);
    for file in ["config.json", "generation_config.json"] {
        let path = folder.path("model").join(file);
        let mut value: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(value["eos_token_id"], 2002);
        value["eos_token_id"] = json!(2000);
        fs::write(&path, value.to_string()).unwrap();
    }
    let config = json!({"eos_token": "<|endoftext|>", "chat_template": CHATML}).to_string();
    folder.write("model/tokenizer_config.json", config);
    let shown = folder.run(&["models", "show", "model"]);
    shown.expect(0, &[]);
    let ends =
        "ends with  <|im_end|> (ends a turn in the chat template), <|endoftext|> (eos_token_id)";
    assert!(shown.stdout.contains(ends), "{}", shown.stdout);
    let tuned = judge(&folder, &[]);
    for key in [
        "status",
        "outcome",
        "completion",
        "completion_tokens",
        "usage",
    ] {
        assert_eq!(tuned[key], plain[key], "{key}");
    }
    assert_eq!(tuned["status"], "ok");
    // Text without a template ends there too, by the token's text.
    let free = judge(&folder, &["--free"]);
    assert_eq!(free["status"], "ok");
}

/// A model's template is tried in a child of the program, within limits that it sets itself, before it is rendered here.
#[test]
fn a_template_that_takes_too_much_is_refused() {
    let loops =
        "{% for i in range(100000) %}{% for j in range(100) %}{{ j }}{% endfor %}{% endfor %}";
    let folder = model(&format!("{loops}{CHATML}"), &[]);
    for command in [
        &["models", "show", "model"][..],
        &["judge", "in.jsonl", "--model", "model", "-o", "out.jsonl"],
        &["prompts", "render", "in.jsonl", "--model", "model"],
    ] {
        folder
            .run(command)
            .expect(2, &["chat template", "more work or memory"]);
    }
    // The child itself: it says nothing, and its status is whether it came to its end.
    for (limits, ends) in [
        (&["3", "4294967296"][..], true),
        #[cfg(target_os = "linux")]
        (&["3", "1000000"], false),
        (&[], false),
    ] {
        let mut child = folder.juror(&[&["--render-chat-template"], limits].concat());
        let child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.unwrap();
        // One that reads nothing has ended already.
        let _ = child.stdin.take().unwrap().write_all(CHATML.as_bytes());
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.success(), ends, "{limits:?}");
        assert!(ended.stdout.is_empty());
    }
}
