//! With the feature `cuda`: compiles the kernels of `src/model/cuda/kernels` to PTX, which the program carries.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    #[cfg(feature = "cuda")]
    if let Err(message) = kernels::compile() {
        println!("cargo:warning={message}");
        std::process::exit(1);
    }
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
