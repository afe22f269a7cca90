//! An option that would change nothing is refused with exit code 2, and with the option beside which it does.

use crate::common::{Folder, rollouts};

#[test]
fn options_without_effect_are_refused() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(2));
    folder.write("pairs.jsonl", "{\"gold\": \"1\", \"pred\": \"1\"}\n");
    folder.write("prompt.txt", "");
    let cases: [(&str, &[&str]); 51] = [
        (
            "judge --model http://127.0.0.1:9/v1#a --device cuda:3",
            &["--device", "server"],
        ),
        (
            "judge --model http://127.0.0.1:9/v1#a --quantize q8_0",
            &["--quantize", "server"],
        ),
        (
            "serve --model http://127.0.0.1:9/v1#a --kv-blocks 9",
            &["--kv-blocks", "server"],
        ),
        (
            "attack in.jsonl --endpoint http://127.0.0.1:9/v1 --kv-blocks 9",
            &["--kv-blocks", "server"],
        ),
        (
            "serve --endpoint http://127.0.0.1:9/v1 --price 1,2",
            &["--price", "spent"],
        ),
        (
            "judge --dry-run --summary-json s.json",
            &["--summary-json", "--dry-run"],
        ),
        ("judge --dry-run --cache c", &["--cache", "--dry-run"]),
        (
            "attack --rows-out attacks.jsonl --free",
            &["--free", "--rows-out"],
        ),
        (
            "attack --rows-out attacks.jsonl --json report.json",
            &["--json", "--rows-out, which judges nothing"],
        ),
        (
            "attack --rows-out attacks.jsonl --kv-blocks 9",
            &["--kv-blocks", "--rows-out"],
        ),
        (
            "judge --rules off --rules-profile strict",
            &["--rules-profile", "--rules off"],
        ),
        (
            "judge --rules off --rules-config {}",
            &["--rules-config", "--rules off"],
        ),
        (
            "judge --rules off --boxed-only",
            &["--boxed-only", "--rules off"],
        ),
        (
            "judge --rules only --model tiny",
            &["--model", "--rules only"],
        ),
        (
            "judge --rules only --protocol prime",
            &["--protocol", "--rules only"],
        ),
        (
            "judge --rules only --prompt prompt.txt",
            &["--prompt", "--rules only"],
        ),
        (
            "judge --rules only --few-shots prompt.txt",
            &["--few-shots", "--rules only"],
        ),
        (
            "judge --rules only --device cpu",
            &["--device", "--rules only"],
        ),
        ("judge --rules only --gpus 0", &["--gpus", "--rules only"]),
        (
            "judge --rules only --dtype f32",
            &["--dtype", "--rules only"],
        ),
        (
            "judge --rules only --quantize q8_0",
            &["--quantize", "--rules only"],
        ),
        (
            "judge --rules only --kv-dtype f16",
            &["--kv-dtype", "--rules only"],
        ),
        ("judge --rules only --reason", &["--reason", "--rules only"]),
        ("judge --rules only --raw", &["--raw", "--rules only"]),
        (
            "judge --rules only --seed 7 --trials 2 --kv-blocks 9",
            &["--kv-blocks", "--rules only"],
        ),
        (
            "judge --rules only --temperature 1",
            &["--temperature", "--rules only"],
        ),
        (
            "judge --rules only --max-new-tokens 9",
            &["--max-new-tokens", "--rules only"],
        ),
        (
            "judge --rules only --batch-size 8",
            &["--max-sequences", "--rules only"],
        ),
        (
            "judge --rules only --no-prefix-cache",
            &["--no-prefix-cache", "--rules only"],
        ),
        (
            "judge --rules only --thinking on",
            &["--thinking", "--rules only"],
        ),
        (
            "judge --rules only --date 2026-01-01",
            &["--date", "--rules only"],
        ),
        (
            "judge --trials 4 --temperature 0",
            &["--trials 4", "temperature 0"],
        ),
        ("judge --top-k 5", &["--top-k", "temperature 0"]),
        (
            "judge --temperature 0 --top-p 0.9",
            &["--top-p", "temperature 0"],
        ),
        ("judge --min-p 0.1", &["--min-p", "temperature 0"]),
        (
            "judge --rules-profile gsm8k --rules-config {}",
            &["--rules-config", "strict or compat"],
        ),
        (
            "judge --rules-profile gsm8k --boxed-only",
            &["--boxed-only", "strict or compat"],
        ),
        ("judge --date 2026-01-01", &["--date", "writes no date"]),
        ("judge --restart", &["--restart", "-o"]),
        (
            "judge --restart --dry-run -o out.jsonl",
            &["--restart", "--dry-run"],
        ),
        (
            "bench in.jsonl --date 2026-01-01",
            &["--date", "writes no date"],
        ),
        ("bench --no-kept-prefix", &["--no-kept-prefix", "benchmark"]),
        (
            "judge --model other --no-kept-prefix",
            &["--no-kept-prefix", "built-in"],
        ),
        ("bench --protocol prime", &["--protocol", "INPUT"]),
        ("bench --prompt prompt.txt", &["--prompt", "INPUT"]),
        ("bench --thinking off", &["--thinking", "INPUT"]),
        ("bench --max-line-bytes 100", &["--max-line-bytes", "INPUT"]),
        ("verify --gold 1 --pred 1 --quiet", &["--quiet", "--gold"]),
        (
            "verify --gold 1 --pred 1 --max-line-bytes 9",
            &["--max-line-bytes", "--gold"],
        ),
        (
            "prompts render in.jsonl --date 2026-01-01",
            &["--date", "writes no date"],
        ),
        (
            "prompts render in.jsonl --few-shots prompt.txt --prompt slots.txt",
            &["few_shots"],
        ),
    ];
    folder.write(
        "slots.txt",
        "<a>{{ question }}</a><b>{{ student_answer }}</b><c>{{ reference_answer }}</c>",
    );
    let before = folder.names();
    for (line, said) in cases {
        let mut arguments: Vec<&str> = line.split(' ').collect();
        if arguments[0] == "judge" {
            arguments.push("in.jsonl");
        }
        let ran = folder.run(&arguments);
        assert_eq!(ran.code, Some(2), "{line}: {}", ran.stderr);
        ran.expect(2, &["error:"]).expect(2, said);
        assert_eq!(ran.stdout, "", "{line}");
    }
    assert_eq!(folder.names(), before);
    // A seed is always taken: with nothing left to chance every seed gives what is asked for.
    folder
        .run(&["judge", "in.jsonl", "--rules", "only", "--seed", "7", "-q"])
        .expect(0, &[]);
}
