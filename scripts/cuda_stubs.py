#!/usr/bin/env python3
"""Stand-ins for the NVIDIA libraries that a CUDA build links to but does not need: the driver, cuBLAS, cuRAND, NVRTC.

    python3 scripts/cuda_stubs.py CUDARC_SOURCE FOLDER [CC]

Each library exports the functions that the crate `cudarc` declares for it, and every one of them returns 34
(CUDA_ERROR_STUB_LIBRARY, as NVIDIA's own stub of the driver does). A program linked to them starts on a machine
without a GPU, and is told by the first call that there is no driver.
"""

import re
import subprocess
import sys
from pathlib import Path

STUB_ERROR = 34

# cudarc's module, the library's name, the name that a linked program asks the system for (CUDA 13).
LIBRARIES = [
    ("driver", "cuda", "libcuda.so.1"),
    ("cublas", "cublas", "libcublas.so.13"),
    ("cublaslt", "cublasLt", "libcublasLt.so.13"),
    ("curand", "curand", "libcurand.so.10"),
    ("nvrtc", "nvrtc", "libnvrtc.so.13"),
]

# The declarations are one to a block:
#     extern "C" {
#         fn cuInit(Flags: ::core::ffi::c_uint) -> CUresult;
DECLARATION = re.compile(r'extern "C" \{\s*(?:pub )?fn (\w+)\s*\(')


def main() -> None:
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    source, folder = Path(sys.argv[1]), Path(sys.argv[2])
    compiler = sys.argv[3] if len(sys.argv) == 4 else "cc"
    folder.mkdir(parents=True, exist_ok=True)
    for module, name, soname in LIBRARIES:
        bindings = source / "src" / module / "sys" / "mod.rs"
        if not bindings.is_file():
            sys.exit(f"cuda_stubs: {bindings} is not there; this version of cudarc keeps its declarations elsewhere")
        functions = sorted(set(DECLARATION.findall(bindings.read_text(encoding="utf-8"))))
        if not functions:
            sys.exit(f"cuda_stubs: no declarations found in {bindings}; this version of cudarc writes them otherwise")
        code = "".join(f"int {function}(void) {{ return {STUB_ERROR}; }}\n" for function in functions)
        command = [compiler, "-x", "c", "-shared", "-fPIC", "-O1", f"-Wl,-soname,{soname}"]
        # Some names are the compiler's own elsewhere; here they are only names.
        command += ["-w", "-fno-builtin", "-o", str(folder / soname), "-"]
        try:
            subprocess.run(command, input=code, text=True, check=True)
        except FileNotFoundError:
            sys.exit(f"cuda_stubs: no C compiler `{compiler}`; install one, or name it in CC")
        except subprocess.CalledProcessError as error:
            sys.exit(f"cuda_stubs: `{compiler}` failed for {soname} (exit {error.returncode})")
        link = folder / f"lib{name}.so"
        link.unlink(missing_ok=True)
        link.symlink_to(soname)
        print(f"{soname}: {len(functions)} functions")


if __name__ == "__main__":
    main()
