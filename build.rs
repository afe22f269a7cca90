//! Notes the commit of the sources as `JUROR_COMMIT`, where they lie in a git repository.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=JUROR_COMMIT");
    note_commit();
}

/// Hands the commit to the compiler: that of the environment, else git's.
fn note_commit() {
    let commit = std::env::var("JUROR_COMMIT").ok();
    // Sources from a registry may lie in somebody's repository, whose commit says nothing of them.
    let own = std::path::Path::new(".git").exists();
    let from_git = || git(&["rev-parse", "HEAD"]).filter(|_| own);
    let Some(commit) = commit.or_else(from_git) else {
        return;
    };
    println!("cargo:rustc-env=JUROR_COMMIT={commit}");
    // The log of HEAD grows with every commit and checkout.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo:rerun-if-changed={log}");
    }
}

/// A line that git writes; none without git or a repository.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let line = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !line.is_empty()).then_some(line)
}
