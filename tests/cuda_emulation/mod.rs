//! Compiles a driver (`tests/cuda_emulation/NAME.cpp`: kernels, their references, comparisons) with the system's C++
//! compiler against the CUDA emulation, and runs it. See `cuda_emulation.h`.

#![allow(dead_code, unreachable_pub)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Compiles and runs `NAME.cpp`, which ends with status 0 if every comparison holds.
///
/// # Panics
/// With everything the compiler or the program said, if either failed.
pub fn run(name: &str) {
    run_with(name, &[]);
}

/// [`run`] with arguments: files of what to compare.
///
/// # Panics
/// As there.
pub fn run_with(name: &str, files: &[PathBuf]) {
    println!("{}", succeed(Command::new(build(name)).args(files)));
}

/// Compiles `NAME.cpp` and gives the program.
///
/// # Panics
/// With everything the compiler said, if it failed.
pub fn build(name: &str) -> PathBuf {
    static MACHINE: OnceLock<PathBuf> = OnceLock::new();
    // Without sanitizer: this file defines what the others, compiled with it, call.
    let machine = MACHINE.get_or_init(|| compile("cuda_emulation", &["-O2"]));
    let driver = compile(name, &["-O1", "-fsanitize=thread", "-DJUROR_EMULATION"]);
    let program = driver.with_extension("");
    succeed(
        Command::new(compiler())
            .args([machine, &driver])
            .arg("-o")
            .arg(&program),
    );
    program
}

/// The C++ compiler: `CXX`, or `c++`.
fn compiler() -> String {
    std::env::var("CXX").unwrap_or_else(|_| "c++".into())
}

fn compile(name: &str, options: &[&str]) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources = root.join("tests/cuda_emulation");
    // Two test programs may run at a time: each has its own folder.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(env!("CARGO_CRATE_NAME"));
    fs::create_dir_all(&folder).unwrap();
    let object = folder.join(name).with_extension("o");
    succeed(
        Command::new(compiler())
            .args(["-std=gnu++17", "-Wall", "-Wextra", "-Wno-unknown-pragmas"])
            .args(options)
            .arg("-I")
            .arg(&sources)
            .arg("-I")
            .arg(root.join("crates/engine/src/model/cuda/kernels"))
            .arg("-c")
            .arg(sources.join(name).with_extension("cpp"))
            .arg("-o")
            .arg(&object),
    );
    object
}

/// What the command prints, if it succeeds.
fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| {
        panic!(
            "{command:?} does not start: {error}. The kernels are tested with a C++ compiler (g++ 9 or clang 10, or newer): \
             install one (on Debian: apt install g++), or name it in CXX"
        )
    });
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.status.success(), "{command:?} failed:\n{said}");
    said
}
