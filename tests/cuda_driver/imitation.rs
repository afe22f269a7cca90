//! Builds the imitated driver (C++, see `driver.h`) and the program that runs on it, and starts the one on the other.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use regex::Regex;

/// Libraries that the program is linked to; all of them are the imitation.
const LIBRARIES: [&str; 6] = ["cuda", "cublas", "cublasLt", "curand", "nvrtc", "cudart"];
/// The folder beside them of the library that is opened by name, if at all.
const NCCL: &str = "nccl";
/// The sources in this folder, without the test program.
const SOURCES: [&str; 6] = ["queue", "memory", "driver", "products", "candle", "nccl"];

/// What was built.
pub(crate) struct Imitation {
    /// The library, under all its names.
    libraries: PathBuf,
    /// `NAME.ptx` for each module of our kernels: names and parameters, no code.
    modules: PathBuf,
    /// `juror`, built with the feature `cuda`.
    pub(crate) juror: PathBuf,
    /// `tests/cuda`.
    pub(crate) cuda_tests: PathBuf,
    /// `tests/cuda_host`.
    pub(crate) host_tests: PathBuf,
    /// `rules.cpp`.
    pub(crate) rules: PathBuf,
}

impl Imitation {
    /// Builds all, or what changed since the last time.
    pub(crate) fn get() -> &'static Self {
        static BUILT: OnceLock<Imitation> = OnceLock::new();
        BUILT.get_or_init(Self::build)
    }

    /// A command whose CUDA calls go to the imitation. `settings` are those of `driver.h`.
    pub(crate) fn command(&self, program: &Path, settings: &str) -> Command {
        let mut command = self.without_nccl(program, settings);
        let folders = [&self.libraries, &self.libraries.join(NCCL)];
        command.env("LD_LIBRARY_PATH", std::env::join_paths(folders).unwrap());
        command
    }

    /// As [`Self::command`], where there is no NCCL.
    pub(crate) fn without_nccl(&self, program: &Path, settings: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env("LD_LIBRARY_PATH", &self.libraries)
            .env("JUROR_CUDA_KERNELS", &self.modules)
            .env("CUDA_IMITATION", settings);
        command
    }

    fn build() -> Self {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
        let check = target.join("cuda-check");
        let toolkit = check.join("stand-in");
        let objects = check.join("imitation");
        let libraries = toolkit.join("lib64");
        for folder in [&toolkit.join("bin"), &objects, &libraries] {
            fs::create_dir_all(folder).unwrap();
        }
        // Two test processes may come here at a time.
        let lock = File::create(objects.join("lock")).unwrap();
        lock.lock().unwrap();
        let modules = objects.join("modules");
        build_library(&objects, &modules, &libraries);
        link_nccl(&libraries);
        let rules = build_rules(&objects, &libraries);
        let [juror, cuda_tests, host_tests] = build_programs(&check, &toolkit);
        Self {
            libraries,
            modules,
            juror,
            cuda_tests,
            host_tests,
            rules,
        }
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The C++ compiler: `CXX`, or `c++`.
fn compiler() -> Command {
    Command::new(std::env::var("CXX").unwrap_or_else(|_| "c++".into()))
}

/// What the command prints, if it succeeds.
pub(crate) fn succeed(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
    assert!(
        output.status.success(),
        "{command:?} failed ({}):\n{}{}",
        output.status,
        // Without cargo's messages for programs, which are many and long.
        String::from_utf8_lossy(&output.stdout)
            .lines()
            .filter(|line| !line.starts_with("{\"reason\""))
            .fold(String::new(), |text, line| text + line + "\n"),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// Compiles `source` unless neither it nor a header has changed since.
fn compile(source: &Path, object: &Path, newest_header: std::time::SystemTime) {
    let modified = |path: &Path| fs::metadata(path).and_then(|data| data.modified());
    let newest = modified(source).unwrap().max(newest_header);
    if modified(object).is_ok_and(|made| made > newest) {
        return;
    }
    succeed(
        compiler()
            .args(["-std=gnu++17", "-Wall", "-Wextra", "-Wno-unknown-pragmas"])
            .args(["-O2", "-fopenmp-simd", "-fPIC", "-ftls-model=initial-exec"])
            .args(["-DJUROR_EMULATION", "-DEMULATION_UNCHECKED"])
            .args(include_folders())
            .arg("-c")
            .arg(source)
            .arg("-o")
            .arg(object),
    );
}

fn folders() -> [PathBuf; 3] {
    [
        "tests/cuda_driver",
        "tests/cuda_emulation",
        "crates/engine/src/model/cuda/kernels",
    ]
    .map(|at| root().join(at))
}

fn include_folders() -> impl Iterator<Item = String> {
    folders()
        .into_iter()
        .map(|folder| format!("-I{}", folder.display()))
}

/// The library from the emulation, the driver, and our kernels.
fn build_library(objects: &Path, modules: &Path, libraries: &Path) {
    fs::create_dir_all(modules).unwrap();
    let mut sources: Vec<PathBuf> = SOURCES
        .iter()
        .map(|name| {
            root()
                .join("tests/cuda_driver")
                .join(name)
                .with_extension("cpp")
        })
        .collect();
    sources.push(root().join("tests/cuda_emulation/cuda_emulation.cpp"));
    let mut newest = std::time::SystemTime::UNIX_EPOCH;
    for file in folders()
        .iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap())
    {
        let path = file.unwrap().path();
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("h" | "cuh") => {
                newest = newest.max(fs::metadata(&path).unwrap().modified().unwrap());
            }
            Some("cu") => {
                let module = Module::read(&path);
                write_if_new(&modules.join(module.name.clone() + ".ptx"), &module.ptx());
                let source = objects.join(format!("kernels_{}.cpp", module.name));
                write_if_new(&source, &module.registration());
                // The kernels themselves are included.
                newest = newest.max(fs::metadata(&path).unwrap().modified().unwrap());
                sources.push(source);
            }
            _ => {}
        }
    }
    let object = |source: &Path| {
        objects
            .join(source.file_name().unwrap())
            .with_extension("o")
    };
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(source) = sources.get(next.fetch_add(1, Ordering::Relaxed)) {
                    compile(source, &object(source), newest);
                }
            });
        }
    });
    let library = libraries.join("libcuda.so.1");
    succeed(
        compiler()
            .args(["-shared", "-Wl,-soname,libcuda.so.1", "-Wl,-z,defs", "-o"])
            .arg(&library)
            .args(sources.iter().map(|source| object(source))),
    );
    for name in LIBRARIES {
        for suffix in ["so", "so.10", "so.13"] {
            let link = libraries.join(format!("lib{name}.{suffix}"));
            let _ = fs::remove_file(&link);
            std::os::unix::fs::symlink("libcuda.so.1", &link).unwrap();
        }
    }
}

/// A link to the library under the name by which programs open NCCL.
fn link_nccl(libraries: &Path) {
    let folder = libraries.join(NCCL);
    fs::create_dir_all(&folder).unwrap();
    let link = folder.join("libnccl.so.2");
    let _ = fs::remove_file(&link);
    std::os::unix::fs::symlink("../libcuda.so.1", &link).unwrap();
}

/// The test of the driver itself.
fn build_rules(objects: &Path, libraries: &Path) -> PathBuf {
    let program = objects.join("rules");
    succeed(
        compiler()
            .args([
                "-std=gnu++17",
                "-Wall",
                "-Wextra",
                "-O1",
                "-DJUROR_EMULATION",
            ])
            .args(include_folders())
            .arg(root().join("tests/cuda_driver/rules.cpp"))
            .arg(libraries.join("libcuda.so.1"))
            .arg("-o")
            .arg(&program),
    );
    program
}

fn write_if_new(path: &Path, text: &str) {
    if fs::read_to_string(path).ok().as_deref() != Some(text) {
        fs::write(path, text).unwrap();
    }
}

/// A file of kernels: what it declares.
struct Module {
    name: String,
    /// Each kernel's name and the PTX types of its parameters.
    kernels: Vec<(String, Vec<&'static str>)>,
}

impl Module {
    /// The kernels are named by macros, so the preprocessor has to say what they are.
    fn read(path: &Path) -> Self {
        let text = succeed(
            compiler()
                .args(["-std=gnu++17", "-E", "-P", "-DJUROR_EMULATION"])
                .args(include_folders())
                .args(["-x", "c++"])
                .arg(path),
        );
        let declaration = Regex::new(r#"extern\s*"C"\s*void\s+(\w+)\s*\(([^)]*)\)\s*\{"#).unwrap();
        let kernels = declaration.captures_iter(&text).map(|found| {
            let parameters = found[2].split(',').map(|parameter| {
                if parameter.contains('*') {
                    ".u64"
                } else if parameter.contains("float") {
                    ".f32"
                } else {
                    assert!(
                        parameter.contains("int") || parameter.contains("unsigned"),
                        "a parameter `{parameter}`"
                    );
                    ".u32"
                }
            });
            (found[1].to_owned(), parameters.collect())
        });
        Self {
            name: path.file_stem().unwrap().to_str().unwrap().to_owned(),
            kernels: kernels.collect(),
        }
    }

    /// The declarations that nvcc would make.
    fn ptx(&self) -> String {
        let mut text = String::from(".version 9.0\n.target sm_90a\n.address_size 64\n");
        for (name, parameters) in &self.kernels {
            let list: Vec<String> = parameters
                .iter()
                .enumerate()
                .map(|(index, kind)| format!("\t.param {kind} {name}_param_{index}"))
                .collect();
            writeln!(
                text,
                ".visible .entry {name}(\n{}\n)\n{{}}",
                list.join(",\n")
            )
            .unwrap();
        }
        text
    }

    /// C++ that gives them to the driver.
    fn registration(&self) -> String {
        let mut text = format!("#include \"driver.h\"\n#include \"{}.cu\"\n\n", self.name);
        text.push_str("[[maybe_unused]] static const bool added[] = {\n");
        for (name, _) in &self.kernels {
            writeln!(text, "    imitation::add_kernel(\"{name}\", {name}),").unwrap();
        }
        text.push_str("};\n");
        text
    }
}

/// `juror`, `tests/cuda` and `tests/cuda_host` with the feature `cuda`, in the folder of `scripts/check_cuda.sh`.
fn build_programs(check: &Path, toolkit: &Path) -> [PathBuf; 3] {
    let nvcc = toolkit.join("bin/nvcc");
    fs::copy(root().join("scripts/stand_in_nvcc.sh"), &nvcc).unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(
        std::iter::once(toolkit.join("bin")).chain(std::env::split_paths(&path)),
    );
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for name in [
        "NVCC",
        "CUDA_PATH",
        "CUDA_ROOT",
        "CUDA_TOOLKIT_ROOT_DIR",
        "CUDNN_LIB",
    ] {
        cargo.env_remove(name);
    }
    cargo
        .current_dir(root())
        .env("CARGO_TARGET_DIR", check)
        .env("CUDA_HOME", toolkit)
        .env("CUDA_COMPUTE_CAP", "90")
        // For the linker, wherever the build scripts looked for libraries when they ran.
        .env("LIBRARY_PATH", toolkit.join("lib64"))
        .env("PATH", path.unwrap())
        .args([
            "build",
            "--quiet",
            "--features",
            "cuda-imitation",
            "--config",
            "scripts/cuda_check.toml",
        ])
        .args(["--bin", "juror", "--test", "cuda", "--test", "cuda_host"])
        .arg("--message-format=json-render-diagnostics");
    let messages = succeed(&mut cargo);
    ["juror", "cuda", "cuda_host"].map(|name| {
        let executable = messages.lines().find_map(|line| {
            let message: serde_json::Value = serde_json::from_str(line).ok()?;
            (message["target"]["name"] == name).then_some(())?;
            Some(PathBuf::from(message["executable"].as_str()?))
        });
        executable.unwrap_or_else(|| panic!("cargo did not say where it put {name}"))
    })
}
