//! With the feature `cuda`: compiles the kernels of `src/model/cuda/kernels` to PTX, and that to machine code, both of which the program
//! carries.

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
    use std::process::Command;

    const FOLDER: &str = "src/model/cuda/kernels";

    /// Compiles each `NAME.cu` to `OUT_DIR/NAME.ptx` and that to `OUT_DIR/NAME.cubin`, and writes `OUT_DIR/kernels.rs`: a list of
    /// `(name, PTX, machine code)`.
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
            assemble(&out.join(name))?;
            let file = |extension| format!("concat!(env!(\"OUT_DIR\"), \"/{name}.{extension}\")");
            let (ptx, cubin) = (file("ptx"), file("cubin"));
            writeln!(
                list,
                "    (\"{name}\", include_str!({ptx}), include_bytes!({cubin})),"
            )
            .map_err(|error| error.to_string())?;
        }
        list.push_str("]\n");
        std::fs::write(out.join("kernels.rs"), list).map_err(|error| error.to_string())
    }

    /// Compiles PTX to the machine code of the GPU that it is for, so that the driver need not, at the first start on each machine. What is
    /// empty, as a stand-in for nvcc makes it, stays empty.
    fn assemble(path: &Path) -> Result<(), String> {
        let (ptx, cubin) = (path.with_extension("ptx"), path.with_extension("cubin"));
        let told = |error| format!("{}: {error}", ptx.display());
        let text = std::fs::read_to_string(&ptx).map_err(told)?;
        let target = text.lines().find_map(|line| line.strip_prefix(".target "));
        let Some(target) = target.and_then(|line| line.split([',', ' ']).next()) else {
            return std::fs::write(&cubin, []).map_err(told);
        };
        let beside_nvcc = cudaforge::CudaToolkit::detect().map_or_else(
            |_| PathBuf::from("ptxas"),
            |toolkit| toolkit.nvcc_path.with_file_name("ptxas"),
        );
        let ended = Command::new(beside_nvcc)
            .args(["-O3", "-arch", target, "-o"])
            .args([&cubin, &ptx])
            .status();
        if !ended.is_ok_and(|ended| ended.success()) {
            println!(
                "cargo:warning={} is not assembled: the driver will compile it, for some seconds at the first start",
                ptx.display()
            );
            std::fs::write(&cubin, []).map_err(told)?;
        }
        Ok(())
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
