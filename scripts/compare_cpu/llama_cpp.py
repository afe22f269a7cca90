"""llama.cpp as a peer: its server under the judge workload, its benches for raw prefill and decode.

The server is measured as it comes, from an empty cache, where every slot computes the template for itself; and with what
it can be made to do: the template in every slot before the clock starts (computed once, saved, restored into the other
slots), so that a request computes only its own tokens.  Slots keep separate caches (`--no-kv-unified`): with one common cache every row would
attend over the cells of all slots.  How many slots, and whether flash attention is on, is tried out first.
"""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from workload import Log, PeerError, Workload, tail

QUANTISED = {
    "q8_0": ("Q8_0", "q8_0"),
    # Q4_K in every matrix but the embedding table, which is also the output head: juror keeps eight bits there too.
    "q4k": ("Q4_K_S", "q8_0"),
}
"""Weight type -> (type for llama-quantize, type of embedding table and head)."""


@dataclass
class Setting:
    """What of the server is tried out."""

    slots: int
    flash_attention: str

    def __str__(self) -> str:
        return f"{self.slots} slots, flash attention {self.flash_attention}"


def peak_of(process: int) -> float | None:
    """The most memory that a running process had, in MB; none where the system does not say."""
    with contextlib.suppress(OSError, StopIteration):
        lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) * 1024 / 1e6
    return None


class Llama:
    """llama.cpp's programs with one folder of weights."""

    def __init__(
        self, programs: Path, folder: Path, threads: int, log: Log, seconds: float, extra: list[str], file: Path | None
    ):
        self.programs, self.folder, self.threads, self.file = programs, folder, threads, file
        self.log, self.seconds, self.extra = log, seconds, extra

    def version(self) -> str:
        """What the server says of itself."""
        program = self.programs / "llama-server"
        try:
            done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60)
        except OSError as error:
            raise PeerError(f"no llama.cpp at {self.programs}: {error}") from error
        words = (done.stdout + done.stderr).splitlines()
        return ", ".join(line.removeprefix("version: ") for line in words if line.startswith(("version", "built with")))

    def weights(self, kind: str) -> Path:
        """The GGUF file of a weight type, quantised from f16 if it is missing; `file` is the one that was named."""
        if kind == "file":
            return self.file
        path = self.folder / f"{kind}.gguf"
        if kind in QUANTISED and not path.exists():
            name, head = QUANTISED[kind]
            unfinished = path.with_suffix(".part")
            types = ["--pure", "--token-embedding-type", head, "--output-tensor-type", head]
            source = self.folder / "f16.gguf"
            command = [self.programs / "llama-quantize", *types, source, unfinished, name, str(self.threads)]
            self.log.run(command, f"quantize-{kind}", self.seconds)
            unfinished.rename(path)
        return path

    @contextlib.contextmanager
    def server(self, kind: str, setting: Setting, context: int):
        """A running server with `context` tokens for each slot; yields its address and its process."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        saved = self.folder / "slots"
        saved.mkdir(exist_ok=True)
        threads = str(self.threads)
        command = [self.programs / "llama-server", "-m", self.weights(kind), "-t", threads, "-tb", threads]
        command += ["--parallel", str(setting.slots), "-c", str(setting.slots * context), "--no-kv-unified"]
        command += ["-fa", setting.flash_attention, "--cache-ram", "0", "--fit", "off"]
        command += ["--slot-save-path", saved, *self.extra]
        self.log.note(command)
        path = self.log.folder / f"server-{kind}-{setting.slots}-{setting.flash_attention}.log"
        with path.open("w", encoding="utf-8") as words:
            try:
                command = [*map(str, command), "--host", "127.0.0.1", "--port", str(port)]
                process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=words, stderr=words)
            except OSError as error:
                raise PeerError(f"llama-server does not start: {error}") from error
            try:
                address = f"http://127.0.0.1:{port}"
                self.await_ready(address, process, path)
                yield address, process.pid
            except (OSError, KeyError) as error:
                words.flush()
                raise PeerError(f"llama-server: {error!r}; {path}:\n{tail(path)}") from error
            finally:
                process.terminate()
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
                for file in saved.iterdir():
                    file.unlink()

    def await_ready(self, address: str, process: subprocess.Popen, log: Path) -> None:
        """Wait until the weights are loaded."""
        limit = time.monotonic() + self.seconds
        while time.monotonic() < limit:
            if process.poll() is not None:
                raise PeerError(f"llama-server ended with {process.returncode}; {log}:\n{tail(log)}")
            with contextlib.suppress(urllib.error.URLError, ConnectionError, TimeoutError):
                with urllib.request.urlopen(f"{address}/health", timeout=5):
                    return
            time.sleep(0.05)
        raise PeerError(f"llama-server was not ready within {self.seconds:.0f} s (--timeout)")

    def post(self, address: str, path: str, body: dict) -> dict:
        """One request."""
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(address + path, json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=self.seconds) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise PeerError(f"llama-server refuses {path}: {error.read().decode(errors='replace')[:500]}") from error

    def complete(self, address: str, prompt: list[int], output: int, **more: object) -> dict:
        """One answer of so many tokens."""
        body = {"prompt": prompt, "n_predict": output, "ignore_eos": True, "temperature": 0, "cache_prompt": True}
        return self.post(address, "/completion", {**body, **more})

    def fill(self, address: str, prompt: list[int], slots: int) -> None:
        """Puts a prompt into the cache of every slot: nothing behind it, since a recurrent state cannot go back to its end."""
        self.complete(address, prompt, 1, id_slot=0)
        self.post(address, "/slots/0?action=save", {"filename": "warm"})
        for slot in range(1, slots):
            self.post(address, f"/slots/{slot}?action=restore", {"filename": "warm"})

    def judge(self, kind: str, setting: Setting, workload: Workload, samples: int, seed: str, warm: bool = True) -> dict:
        """Verdicts a second of the server: all samples sent at once, the template in every slot before if `warm`."""
        template, owns = workload.prompts(samples, seed)
        needed = workload.template + workload.own + workload.output + 16
        context = -(-needed // 256) * 256

        # The server goes first when something ends this early, and with it the requests that the pool waits for.
        with ThreadPoolExecutor(samples) as pool, self.server(kind, setting, context) as (address, process):
            if warm:
                self.fill(address, template, setting.slots)
            started = time.monotonic()
            answers = list(pool.map(lambda own: self.complete(address, template + own, workload.output), owns))
            wall = time.monotonic() - started
            peak = peak_of(process)
        timings = [answer["timings"] for answer in answers]
        generated = sum(timing["predicted_n"] for timing in timings)
        cached = sum(timing["cache_n"] for timing in timings)
        computed = sum(timing["prompt_n"] for timing in timings)
        if generated != samples * workload.output or cached + computed != samples * (workload.template + workload.own):
            raise PeerError(f"llama-server answered with {generated} tokens to {cached} cached and {computed} computed")
        return {
            "verdicts_per_second": samples / wall,
            "setting": str(setting),
            "samples": samples,
            "seconds": wall,
            "peak_megabytes": peak,
            "prompt_tokens_cached": cached,
            "prompt_tokens_computed": computed,
            "generated_tokens": generated,
            "prompt_per_second": timings[0]["prompt_per_second"],
            "predicted_per_second": timings[0]["predicted_per_second"],
        }

    def first(self, kind: str, attention: str, workload: Workload) -> dict:
        """Seconds from the server's start to the end of its first answer."""
        template, [own] = workload.prompts(1, "first")
        context = -(-(workload.template + workload.own + workload.output + 16) // 256) * 256
        started = time.monotonic()
        with self.server(kind, Setting(1, attention), context) as (address, _):
            answer = self.complete(address, template + own, workload.output)
            seconds = time.monotonic() - started
        if answer["timings"]["predicted_n"] != workload.output:
            raise PeerError(f"llama-server answered with {answer['timings']}")
        return {"first_verdict_seconds": seconds}

    def raw(self, kind: str, attention: str, workload: Workload) -> dict:
        """Prefill and decode in tokens a second: llama-bench and llama-batched-bench."""
        threads, weights = str(self.threads), self.weights(kind)
        if not (self.programs / "llama-bench").exists():
            return self.raw_of_server(kind, attention, workload)
        command = [self.programs / "llama-bench", "-m", weights, "-t", threads, "-o", "json"]
        command += ["-fa", attention]
        command += ["-p", str(workload.prefill), "-n", "0", "-r", "3"]
        found = json.loads(self.log.run(command, f"llama-bench-{kind}", self.seconds))
        figures = {"prefill_tokens_per_second": found[0]["avg_ts"]}
        cells = max(workload.decode_batches) * (workload.decode_prompt + workload.decode_output)
        command = [self.programs / "llama-batched-bench", "-m", weights, "-t", threads, "-tb", threads]
        command += ["-fa", attention, "-c", str(-(-cells // 256) * 256), "--output-format", "jsonl"]
        command += ["-npp", str(workload.decode_prompt), "-ntg", str(workload.decode_output)]
        # Its log is written by another thread, which at times loses the last line when the program ends: one batch more.
        command += ["-npl", ",".join(map(str, [*workload.decode_batches, 1]))]
        speeds: dict[int, float] = {}
        for _ in range(3):
            output = self.log.run(command, f"batched-bench-{kind}", self.seconds)
            for row in (json.loads(line) for line in output.splitlines() if line.startswith("{")):
                speeds.setdefault(row["pl"], row["speed_tg"])
            if speeds.keys() >= set(workload.decode_batches):
                break
        else:
            raise PeerError(f"llama-batched-bench gave figures for batches of {sorted(speeds)} only")
        for batch in workload.decode_batches:
            figures[f"decode_tokens_per_second_{batch}"] = speeds[batch]
        return figures

    def raw_of_server(self, kind: str, attention: str, workload: Workload) -> dict:
        """Prefill and decode by the server's own timings, of one sequence the best of three: a wheel has no benches."""

        def best(prompt: int, output: int, speed: str) -> float:
            alone = Workload(0, prompt, output, 1, workload.vocabulary, 0, 0, 0, [])
            setting = Setting(1, attention)
            return max(self.judge(kind, setting, alone, 1, str(run), False)[speed] for run in range(3))

        def together(batch: int) -> float:
            # One prompt in all slots but for its last token, so that all rows decode from their first token to their last.
            alone = Workload(0, workload.decode_prompt, workload.decode_output, 1, workload.vocabulary, 0, 0, 0, [])
            _, [[*prompt, last]] = alone.prompts(1, "decode")
            context = -(-(workload.decode_prompt + workload.decode_output + 16) // 256) * 256
            with ThreadPoolExecutor(batch) as pool, self.server(kind, Setting(batch, attention), context) as (address, _):
                self.fill(address, prompt, batch)
                ask = lambda slot: self.complete(address, [*prompt, last], workload.decode_output, id_slot=slot)
                timings = [answer["timings"] for answer in pool.map(ask, range(batch))]
            if any(one["predicted_n"] != workload.decode_output or one["prompt_n"] > 2 for one in timings):
                raise PeerError(f"llama-server did not decode {batch} sequences alone: {timings}")
            return batch * workload.decode_output / max(one["predicted_ms"] for one in timings) * 1000

        figures = {"prefill_tokens_per_second": best(workload.prefill, 1, "prompt_per_second")}
        for batch in workload.decode_batches:
            alone = batch == 1
            speed = best(workload.decode_prompt, workload.decode_output, "predicted_per_second") if alone else together(batch)
            figures[f"decode_tokens_per_second_{batch}"] = speed
        return figures
