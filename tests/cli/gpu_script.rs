//! `scripts/test_gpu.sh` with programs that only look like `nvidia-smi`, `juror` and its tests: what it takes for right and for
//! wrong, and that it goes on where it stopped. The real programs run on the imitated driver in `tests/cuda_driver`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// A folder with the programs, which do what their lines of shell say.
struct Machine(tempfile::TempDir);

const GPU: &str = "echo 'NVIDIA H200, 143771, 143000, 580.65.06, 9.0'";
/// Judges: the input's lines are its verdicts.
const JUROR: &str = r#"case $1 in judge) cat "$2" ;; bench) while [ $# -gt 0 ] && [ "$1" != --json ]; do shift; done; [ $# -eq 0 ] || echo '{"verdicts_per_second": 3.5}' >"$2" ;; *) echo "juror 0" ;; esac"#;
const TESTS: &str = "echo 'test result: ok. 2 passed; 0 failed; 0 ignored'";

impl Machine {
    fn new(gpu: &str, juror: &str, tests: &str) -> Self {
        let machine = Self(tempfile::tempdir().unwrap());
        for (name, text) in [("nvidia-smi", gpu), ("juror", juror), ("test-cuda", tests)] {
            machine.program(name, text);
        }
        machine
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn program(&self, name: &str, text: &str) {
        let file = self.path().join(name);
        fs::write(&file, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// The script's exit code, and all it says.
    fn run(&self, arguments: &[&str]) -> (i32, String) {
        let path = std::env::var("PATH").unwrap();
        let output = Command::new("bash")
            .arg(format!("{ROOT}/scripts/test_gpu.sh"))
            .args(arguments)
            .arg("-o")
            .arg(self.path().join("results"))
            .env("PATH", format!("{}:{path}", self.path().display()))
            .env("JUROR_BIN", self.path().join("juror"))
            .env("JUROR_TEST_BIN", self.path().join("test-cuda"))
            .env("ROLLOUTS", "30")
            .env_remove("CUDA_VISIBLE_DEVICES")
            .output()
            .unwrap();
        let said = [output.stdout, output.stderr].concat();
        (
            output.status.code().unwrap(),
            String::from_utf8(said).unwrap(),
        )
    }
}

#[test]
fn what_is_right_is_done_once() {
    let machine = Machine::new(GPU, JUROR, TESTS);
    let (code, said) = machine.run(&["correctness"]);
    assert_eq!(code, 0, "{said}");
    assert!(
        said.contains("30 of 30 verdicts are the CPU's")
            && said.contains("2 tests passed: fast::greedy"),
        "{said}"
    );
    let (code, said) = machine.run(&["correctness"]);
    assert!(code == 0 && !said.contains("ok "), "{said}");
    let (code, said) = machine.run(&["bench", "8b-300", "8b-0"]);
    assert!(
        code == 0 && said.contains("ok  8b-0 (") && said.contains(" s): 3.5 verdicts/s"),
        "{said}"
    );
    let (code, said) = machine.run(&[
        "report",
        &machine.path().join("page.md").display().to_string(),
    ]);
    assert_eq!(code, 0, "{said}");
    let page = fs::read_to_string(machine.path().join("page.md")).unwrap();
    assert!(
        page.contains("| rollouts | ok |") && page.contains("| 8b-300 | 3.50 |"),
        "{page}"
    );
    // Results of another GPU are not mixed with these.
    machine.program(
        "nvidia-smi",
        "echo 'NVIDIA H100, 81559, 81000, 580.65.06, 9.0'",
    );
    let (code, said) = machine.run(&["bench"]);
    assert!(
        code == 2 && said.contains("another build or machine"),
        "{said}"
    );
}

#[test]
fn what_is_wrong_is_never_taken_for_right() {
    for (juror, tests, wrong) in [
        ("exit 1", TESTS, "examples"),
        (r#"[ "$4" = cpu ] && cat "$2"; exit 0"#, TESTS, "rollouts"),
        (r#"[ "$4" = cuda ] && cat "$2"; exit 0"#, TESTS, "rollouts"),
        (JUROR, "exit 101", "kernels"),
        (
            JUROR,
            "echo 'test result: ok. 0 passed; 0 failed'",
            "kernels",
        ),
    ] {
        let machine = Machine::new(GPU, juror, tests);
        let (code, said) = machine.run(&["correctness"]);
        assert!(
            code == 1 && said.contains(&format!("FAILED  {wrong} (")),
            "{juror}, {tests}: {said}"
        );
        assert!(!said.contains(&format!("ok  {wrong} (")), "{said}");
        // It is tried again.
        let (code, said) = machine.run(&["correctness"]);
        assert!(
            code == 1 && said.contains(&format!("FAILED  {wrong} (")),
            "{said}"
        );
    }
    let machine = Machine::new(GPU, "exit 1", TESTS);
    let (code, said) = machine.run(&["bench", "8b-300"]);
    assert!(code == 1 && said.contains("FAILED  8b-300"), "{said}");
}

#[test]
fn what_is_missing_is_said_before_anything_starts() {
    for (gpu, message) in [
        ("exit 9", "an NVIDIA GPU and its driver"),
        (
            "echo 'NVIDIA H200 MIG 1g, [N/A], [N/A], 580.65.06, 9.0'",
            "how much memory it has",
        ),
        (
            "echo 'NVIDIA H200, 143771, 143000, 550.10, 9.0'",
            "driver 580 or newer (CUDA 13.0), not 550.10",
        ),
    ] {
        let machine = Machine::new(gpu, "touch started", TESTS);
        let (code, said) = machine.run(&["correctness"]);
        assert!(code == 2 && said.contains(message), "{said}");
        assert!(!machine.path().join("started").exists());
    }
    let machine = Machine::new(GPU, JUROR, TESTS);
    fs::remove_file(machine.path().join("test-cuda")).unwrap();
    let (code, said) = machine.run(&["check"]);
    assert!(
        code == 2 && said.contains("scripts/build_cuda.sh"),
        "{said}"
    );
    // Nothing is started for which there is no time, and no row for which there is no memory.
    let machine = Machine::new(
        "echo 'NVIDIA L4, 23034, 22000, 580.65.06, 9.0'",
        JUROR,
        TESTS,
    );
    let (code, said) = machine.run(&["bench", "smoke", "8b-300", "--seconds", "4"]);
    assert!(
        code == 3 && said.contains("left  smoke") && said.contains("left out  8b-300"),
        "{said}"
    );
}

#[test]
fn a_visit_does_what_is_worth_most_first_and_says_what_is_left_out() {
    let machine = Machine::new(GPU, JUROR, TESTS);
    machine.program("ncu", "echo '  Section: GPU Speed Of Light Throughput'");
    machine.program("python3", "exit 1");
    let (code, said) = machine.run(&["visit"]);
    assert_eq!(code, 0, "{said}");
    let order = [
        "ok  examples (",
        "ok  stored (",
        "ok  70b-300-awq (",
        "ok  8b-300-awq-448 (",
        "left out  one model on two GPUs",
        "left out  python3 with torch and transformers",
        "ok  counters-four-bits (",
        "ok  8b-300 (",
        "ok  30b-a3b-300 (",
        "ok  8b-2500-fp8-all (",
    ];
    let places = order.map(|line| said.find(line));
    assert!(
        places.iter().all(Option::is_some) && places.is_sorted(),
        "{said}"
    );
    // The peer, where there is one; what was done is not done again.
    let python =
        r#"case "$1 $2" in *vllm* | *sglang*) exit 1 ;; esac; echo '{"verdicts_per_second": 2}'"#;
    machine.program("python3", python);
    let (code, said) = machine.run(&["visit"]);
    assert!(
        code == 0 && said.contains("ok  peer-static (") && said.contains("ok  peer-juror ("),
        "{said}"
    );
    assert!(
        said.contains("left out  vllm is not on this machine") && !said.contains("ok  stored ("),
        "{said}"
    );
}
