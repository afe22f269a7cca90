//! Notes the commit of the sources as `JUROR_COMMIT`, where they lie in a git repository.
//! With the feature `cuda`: compiles the kernels of `src/model/cuda/kernels` to PTX, which the program carries.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=JUROR_COMMIT");
    note_commit();
    #[cfg(feature = "cuda")]
    if let Err(message) = kernels::compile() {
        println!("cargo:warning={message}");
        std::process::exit(1);
    }
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

#[cfg(feature = "cuda")]
mod kernels {
    use std::fmt::Write;
    use std::path::{Path, PathBuf};

    const FOLDER: &str = "src/model/cuda/kernels";

    /// Compiles each `NAME.cu` to `OUT_DIR/NAME.ptx`, and writes `OUT_DIR/kernels.rs`: a list of `(name, PTX)`.
    pub(crate) fn compile() -> Result<(), String> {
        let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("cargo sets no OUT_DIR")?);
        let mut sources = files("cu")?;
        sources.sort();
        let headers = files("cuh")?;
        println!("cargo:rerun-if-changed={FOLDER}");
        println!("cargo:rerun-if-env-changed=CUDA_HOME");
        cudaforge::KernelBuilder::new()
            .source_files(&sources)
            .watch(&headers)
            .arg("-std=c++17")
            .arg("-O3")
            .out_dir(&out)
            .build_ptx()
            .map_err(|error| format!("the CUDA kernels do not compile: {error}"))?;
        let mut list = String::from("&[\n");
        for source in &sources {
            let name = source
                .file_stem()
                .and_then(|name| name.to_str())
                .ok_or("a kernel's name is not text")?;
            writeln!(
                list,
                "    (\"{name}\", include_str!(concat!(env!(\"OUT_DIR\"), \"/{name}.ptx\"))),"
            )
            .map_err(|error| error.to_string())?;
        }
        list.push_str("]\n");
        std::fs::write(out.join("kernels.rs"), list).map_err(|error| error.to_string())
    }

    fn files(extension: &str) -> Result<Vec<PathBuf>, String> {
        let entries = Path::new(FOLDER)
            .read_dir()
            .map_err(|error| format!("{FOLDER}: {error}"))?;
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        Ok(paths
            .filter(|path| path.extension().is_some_and(|found| found == extension))
            .collect())
    }
}
