use std::fs;

use serde_json::json;

use super::*;

/// The verdicts of files, each on a sample (id, trial) of the row `7`, of which the input has one sample by the row's id.
fn read(files: &[(&str, u32)]) -> Result<Judged, EvalError> {
    let folder = tempfile::tempdir().unwrap();
    let rows = folder.path().join("rows.jsonl");
    let row = json!({"id": "7", "question": "q", "answer": "42", "response": "42"});
    fs::write(&rows, row.to_string()).unwrap();
    let verdicts: Vec<PathBuf> = files
        .iter()
        .enumerate()
        .map(|(at, (id, trial))| {
            let path = folder.path().join(format!("verdicts-{at}.jsonl"));
            let line = json!({"id": id, "index": 0, "group": "7", "trial": trial, "status": "ok", "process": true,
                "outcome": true, "perfect": null, "overall": true, "reward": 1.0, "reason": null,
                "usage": {"prompt_tokens": 1, "cached_tokens": 0, "completion_tokens": 1}});
            fs::write(&path, line.to_string()).unwrap();
            path
        })
        .collect();
    Judged::read(&[rows], &LoadOptions::default(), &verdicts)
}

#[test]
fn a_row_has_one_sample_if_no_other_file_has_another() {
    let judged = read(&[("7:0", 0), ("7:0", 1)]).unwrap();
    assert_eq!(judged.coverage.verdicts, 2);
    assert_eq!(judged.tallies[0].trials, 2);
    for trial in [0, 1] {
        let error = read(&[("7:0", 0), ("7:1", trial)]).unwrap_err().to_string();
        assert!(
            error.contains("none of the 2 verdicts is on a row"),
            "{error}"
        );
    }
    // A trial that is there twice is told by the file and the line of the second.
    let error = read(&[("7:0", 0), ("7:0", 0)]).unwrap_err().to_string();
    let told = error.contains("verdicts-1.jsonl:1") && error.contains("is there twice");
    assert!(told, "{error}");
}
