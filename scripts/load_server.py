"""Load on a running `juror serve`: many connections, each asking for one verdict after another, every answer checked.

    juror serve --port 8000 &
    python scripts/load_server.py http://127.0.0.1:8000 --connections 1000 --requests 100000

Needs Python 3.10 or later and nothing else. Each request is a sample of its own (unless --distinct says fewer), with a known right
answer for half of them. Prints what was answered, how fast, how long requests waited, and how much memory the server had (with --pid).
With --restart COMMAND the server is killed (SIGKILL) every --every seconds and started anew, --kills times; what it had answered before
must come back as it was, and without being judged again. Fewer kills before the last answer, or a server that ends by itself, is an error.
"""

import argparse
import asyncio
import json
import os
import shlex
import signal
import subprocess
import time
from urllib.parse import urlsplit


def sample(number: int) -> tuple[dict, bool]:
    """The `number`th sample, and whether its response is right."""
    first, second = number % 9000 + 10, number // 9000 * 7 + number % 83 + 2
    right = number % 2 == 0
    said = first + second + (0 if right else 1 + number % 9)
    return {
        "id": f"load-{number}",
        "question": f"Ann has {first} apples and buys {second} more. How many apples has she now?",
        "reference": str(first + second),
        "response": f"{first} + {second} = {said}. The answer is {said}.",
    }, right


class Client:
    """One connection, which asks for one sample after another."""

    def __init__(self, load: "Load") -> None:
        self.load = load
        self.reader = self.writer = None

    async def ask(self, body: bytes) -> tuple[int, dict]:
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection(self.load.host, self.load.port)
        head = (f"POST /v1/judge HTTP/1.1\r\nHost: {self.load.host}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n")
        self.writer.write(head.encode() + body)
        await self.writer.drain()
        status = int((await self.reader.readline()).split()[1])
        length = 0
        while (line := await self.reader.readline()) not in (b"\r\n", b""):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        return status, json.loads(await self.reader.readexactly(length))

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()
        self.reader = self.writer = None

    async def run(self) -> None:
        while (number := self.load.take()) is not None:
            row, right = sample(number)
            body = json.dumps({"samples": [row]}).encode()
            known = number in self.load.rewards
            started = time.monotonic()
            while True:
                try:
                    status, answer = await self.ask(body)
                except (OSError, IndexError, ValueError, asyncio.IncompleteReadError) as error:
                    self.close()
                    if not self.load.restarts:
                        raise SystemExit(f"sample {number}: {error!r}") from error
                    self.load.broken += 1
                    await asyncio.sleep(0.2)
                    continue
                if status == 503 and self.load.restarts:
                    self.close()
                    await asyncio.sleep(0.2)
                    continue
                break
            self.load.keep(number, status, answer, right, known, time.monotonic() - started)
        self.close()


class Load:
    """What is asked, and what came back."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        url = urlsplit(arguments.url)
        self.host, self.port = url.hostname, url.port
        self.restarts = arguments.restart is not None
        self.requests, self.distinct = arguments.requests, arguments.distinct or arguments.requests
        self.next = self.done = self.errors = self.wrong = self.reused = self.changed = self.again = self.broken = 0
        self.latencies: list[float] = []
        self.rewards: dict[int, object] = {}

    def take(self) -> int | None:
        if self.next >= self.requests:
            return None
        self.next += 1
        return (self.next - 1) % self.distinct

    def keep(self, number: int, status: int, answer: dict, right: bool, known: bool, latency: float) -> None:
        self.done += 1
        self.latencies.append(latency)
        if status != 200:
            self.errors += 1
            print(f"sample {number}: {status} {answer}")
            return
        verdict = answer["verdicts"][0]
        if verdict["id"] != f"load-{number}" or verdict["status"] not in ("ok", "out_of_domain"):
            self.errors += 1
            print(f"sample {number}: {verdict}")
        self.reused += bool(verdict.get("reused"))
        self.wrong += verdict["status"] == "ok" and (verdict["reward"] == 1.0) != right
        before = self.rewards.setdefault(number, verdict["reward"])
        self.changed += before != verdict["reward"]
        self.again += known and not verdict.get("reused")


def memory(pid: int) -> float:
    """Resident memory of a process, in MB."""
    with open(f"/proc/{pid}/status") as status:
        line = next(line for line in status if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--connections", type=int, default=1000)
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--distinct", type=int, help="ask for so many samples, again and again")
    parser.add_argument("--pid", type=int, help="the server's process, to read its memory")
    parser.add_argument("--restart", metavar="COMMAND", help="start the server with this command, kill it, start it again")
    parser.add_argument("--every", type=float, default=5.0, help="seconds between two kills")
    parser.add_argument("--kills", type=int, default=3)
    arguments = parser.parse_args()
    load = Load(arguments)
    pid, process = arguments.pid, None
    sizes: list[float] = []
    if arguments.restart:
        process = subprocess.Popen(shlex.split(arguments.restart), stdout=subprocess.DEVNULL)

    killed = 0

    async def watch() -> None:
        nonlocal process, killed
        last = time.monotonic()
        while True:
            await asyncio.sleep(1)
            now = time.monotonic()
            if process is not None and process.poll() is not None:
                raise RuntimeError(f"the server has ended by itself, with {process.returncode}")
            if process is not None and killed < arguments.kills and now - last > arguments.every:
                process.send_signal(signal.SIGKILL)
                process.wait()
                process = subprocess.Popen(shlex.split(arguments.restart), stdout=subprocess.DEVNULL)
                killed, last = killed + 1, now
            own = process.pid if process is not None else pid
            if own and os.path.exists(f"/proc/{own}"):
                sizes.append(memory(own))
            if len(sizes) % 60 == 1 or load.done == load.requests:
                size = f", {sizes[-1]:.0f} MB" if sizes else ""
                print(f"{load.done} of {load.requests} answered, {load.errors} errors{size}", flush=True)

    watching = asyncio.create_task(watch())
    asking = asyncio.gather(*(Client(load).run() for _ in range(min(arguments.connections, load.requests))))
    started = time.monotonic()
    try:
        # Watching ends only with an error.
        await asyncio.wait([watching, asking], return_when=asyncio.FIRST_COMPLETED)
        if watching.done():
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            raise SystemExit(f"the server is no longer killed and started: {watching.exception()}")
        await asking
        seconds = time.monotonic() - started
    finally:
        watching.cancel()
        if process is not None:
            process.terminate()
            process.wait()
    ordered = sorted(load.latencies)
    at = lambda share: ordered[min(int(share * len(ordered)), len(ordered) - 1)]  # noqa: E731
    print(f"{load.done} answers in {seconds:.1f} s: {load.done / seconds:.1f}/s; {load.errors} errors, {load.changed} changed, "
          f"{load.reused} known before, {load.again} judged again, {load.wrong} against the label, {load.broken} connections broken by a kill")
    print(f"latency: median {at(0.5):.2f} s, 95 % {at(0.95):.2f} s, longest {ordered[-1]:.2f} s")
    if sizes:
        tenths = [sizes[int(len(sizes) * tenth / 10)] for tenth in range(10)] + [sizes[-1]]
        print("server's memory over the run, MB: " + " ".join(f"{size:.0f}" for size in tenths))
    if load.restarts and killed < arguments.kills:
        raise SystemExit(f"{killed} kills of {arguments.kills}: ask for more requests, or kill more often (--every)")
    if load.errors or load.changed or (load.again and load.restarts):
        raise SystemExit(1)


if __name__ == "__main__":
    asyncio.run(main())
