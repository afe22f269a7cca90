#!/usr/bin/env python3
"""llama.cpp as the PyPI wheel xllamacpp carries it, compiled for AVX2 with F16C and FMA: nothing is built here.

    python llama_wheel.py FOLDER

leaves llama-server and llama-quantize in FOLDER/bin: this file under their names, which takes the options that the
comparison gives.  On a processor with AVX-512 it would be slower than llama.cpp can be; build_llama.py builds for the
processor.  The wheel has no benches, so decode of one sequence and prefill are then taken from the server's own timings.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import signal
import subprocess
import sys
from pathlib import Path

VERSION = "2026.10.11549"
# What ggml calls the types, and the library's function that packs rows of them.
PACKED = {"Q8_0": 8, "Q4_K_S": 12}


def install(folder: Path) -> Path:
    """The folder of the programs."""
    environment, programs = folder / "venv", folder / "bin"
    python = environment / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--only-binary", ":all:"]
    subprocess.run([*pip, f"xllamacpp=={VERSION}", "numpy", "gguf"], check=True)
    programs.mkdir(exist_ok=True)
    for name in ["llama-server", "llama-quantize"]:
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec "{python}" "{Path(__file__).resolve()}" {name} "$@"\n')
        program.chmod(0o755)
    return programs


def serve(words: list[str]) -> None:
    """llama-server, with the options that llama_cpp.py gives it."""
    import xllamacpp

    if words == ["--version"]:
        print(f"version: xllamacpp {VERSION} (llama.cpp for AVX2, F16C, FMA)")
        print(f"built with {xllamacpp.BUILD_INFO['compiler']} for {xllamacpp.BUILD_INFO['build_target']}")
        return
    parser = argparse.ArgumentParser()
    for name in ["-m", "-t", "-tb", "--parallel", "-c", "-fa", "--cache-ram", "--fit", "--slot-save-path", "--host", "--port"]:
        parser.add_argument(name, required=True)
    parser.add_argument("--no-kv-unified", action="store_true")
    given = parser.parse_args(words)
    server = xllamacpp.CommonParams()
    server.model.path = given.m
    server.cpuparams.n_threads, server.cpuparams_batch.n_threads = int(given.t), int(given.tb)
    server.n_parallel, server.n_ctx, server.kv_unified = int(given.parallel), int(given.c), not given.no_kv_unified
    flash = {"auto": "AUTO", "on": "ENABLED", "off": "DISABLED"}[given.fa]
    server.flash_attn_type = getattr(xllamacpp.llama_flash_attn_type, f"LLAMA_FLASH_ATTN_TYPE_{flash}")
    server.cache_ram_mib, server.fit_params = int(given.cache_ram), given.fit == "on"
    server.slot_save_path = f"{given.slot_save_path}/"
    server.hostnames, server.port = [given.host], int(given.port)
    running = xllamacpp.Server(server)
    print(running.listening_address, xllamacpp.get_system_info(), flush=True)
    signal.sigwait({signal.SIGTERM, signal.SIGINT})
    os._exit(0)


def quantize(words: list[str]) -> None:
    """llama-quantize --pure: every matrix of an f16 file in one type, the embedding table in Q8_0."""
    import gguf
    import numpy as np
    import xllamacpp.xllamacpp as module

    source, target, name = words[-4:-1]
    library = ctypes.CDLL(module.__file__)
    library.ggml_row_size.restype = library.ggml_quantize_chunk.restype = ctypes.c_size_t
    library.ggml_row_size.argtypes = [ctypes.c_int, ctypes.c_int64]
    pointer, wide = ctypes.c_void_p, ctypes.c_int64
    library.ggml_quantize_chunk.argtypes = [ctypes.c_int, pointer, pointer, wide, wide, wide, pointer]
    reader = gguf.GGUFReader(source)
    writer = gguf.GGUFWriter(target, reader.get_field("general.architecture").contents())
    for field in reader.fields.values():
        if not field.name.startswith("GGUF.") and field.name != "general.architecture":
            sub_type = field.types[1] if len(field.types) > 1 else None
            writer.add_key_value(field.name, field.contents(), field.types[0], sub_type)
    for tensor in reader.tensors:
        values = tensor.data
        # A convolution's rows are shorter than a block.
        if len(tensor.shape) < 2 or tensor.shape[0] % 32 != 0:
            writer.add_tensor(tensor.name, values)
            continue
        kind = PACKED["Q8_0" if tensor.name.startswith(("token_embd", "output.")) else name]
        rows, width = values.shape
        numbers = np.ascontiguousarray(values, dtype=np.float32)
        packed = np.empty((rows, library.ggml_row_size(kind, width)), dtype=np.uint8)
        library.ggml_quantize_chunk(kind, numbers.ctypes.data, packed.ctypes.data, 0, rows, width, None)
        writer.add_tensor(tensor.name, packed, raw_dtype=gguf.GGMLQuantizationType(kind))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main() -> None:
    match sys.argv[1:]:
        case ["llama-server", *words]:
            serve(words)
        case ["llama-quantize", *words]:
            quantize(words)
        case [folder] if not folder.startswith("-"):
            print(install(Path(folder).resolve()))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
