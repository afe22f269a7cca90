"""What the client does when a server or the way to it fails."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
import time
from typing import Any

import faulty
import pytest

from juror_rs import Judge, JudgeError, client, retry
from juror_rs.client import Client
from juror_rs.transport import Cancellation, Transport

SAMPLES = [json.dumps({"id": str(number)}).encode() for number in range(5)]
IDS = [str(number) for number in range(5)]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(retry, "LONGEST_PAUSE", 0.05)


def ids(lines: list[dict[str, Any]]) -> list[str]:
    assert [line["index"] for line in lines] == list(range(len(lines)))
    return [line["id"] for line in lines]


def test_verdicts_come_in_any_order_and_are_given_in_that_of_the_samples() -> None:
    with faulty.serving() as server:
        asked = Client(server.url)
        seen: list[None] = []
        assert ids(asked.judge(SAMPLES, on_verdict=lambda: seen.append(None))) == IDS
        assert len(seen) == 5
        assert asked.judge_info == {"model": "none"}


@pytest.mark.parametrize(
    ("behaviour", "missing"),
    [
        (faulty.cut_after(0), IDS),
        (faulty.cut_after(2), IDS[2:]),
        (faulty.cut_after(2, rest=b'{"id": "2", "ind'), IDS[2:]),
        (faulty.ended_early, IDS[1:]),
        (faulty.hung_up, IDS),
        (faulty.refused(503), IDS),
        (faulty.refused(502), IDS),
        (faulty.refused(504, Retry_After="0"), IDS),
        (faulty.refused(500), IDS),
        (faulty.written(b'{"error": {"message": "the engine has failed"}}\n'), IDS),
    ],
)
def test_only_what_is_missing_is_asked_again(behaviour: faulty.Behaviour, missing: list[str]) -> None:
    with faulty.serving(behaviour) as server:
        assert ids(Client(server.url).judge(SAMPLES)) == IDS
        assert server.asked == [IDS, missing]


def test_a_stream_may_be_cut_again_and_again() -> None:
    with faulty.serving(*[faulty.cut_after(1)] * 4) as server:
        assert ids(Client(server.url).judge(SAMPLES)) == IDS
        assert server.asked == [IDS, IDS[1:], IDS[2:], IDS[3:], IDS[4:]]


def test_whole_lines_are_enough_without_the_last() -> None:
    with faulty.serving(faulty.cut_after(5)) as server:
        assert ids(Client(server.url).judge(SAMPLES)) == IDS
        assert len(server.asked) == 1


def test_a_silent_server_that_lives_is_asked_again_however_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "SILENCE", 0.05)
    with faulty.serving(faulty.silent(1.0), *[faulty.waiting(1.0)] * (retry.ATTEMPTS + 2)) as server:
        assert ids(Client(server.url).judge(SAMPLES)) == IDS
        assert server.asked[:2] == [IDS, IDS[1:]]


def test_a_silent_server_that_does_not_live_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "SILENCE", 0.05)
    with faulty.serving(*[faulty.waiting(1.0)] * 100) as server:
        server.alive = False
        with pytest.raises(JudgeError, match="has sent nothing for .*given up"):
            Client(server.url).judge(SAMPLES)
        assert len(server.asked) == retry.ATTEMPTS


@pytest.mark.parametrize(
    ("status", "message"),
    [(400, "samples\\[3\\]: no `question`"), (401, "JUROR_API_KEY"), (404, "`juror serve`"), (413, "413"), (422, "422")],
)
def test_a_refusal_is_final(status: int, message: str) -> None:
    with faulty.serving(faulty.refused(status, "samples[3]: no `question`")) as server:
        with pytest.raises(JudgeError, match=message) as caught:
            Client(server.url).judge(SAMPLES)
        assert caught.value.status == status
        assert len(server.asked) == 1


@pytest.mark.parametrize("text", [b"<html>\n", b"[1]\n", b'{"index": 5}\n', b'{"index": -1}\n', b'{"index": "0"}\n'])
def test_what_is_no_verdict_is_an_error(text: bytes) -> None:
    with faulty.serving(faulty.written(text)) as server:
        with pytest.raises(JudgeError, match="juror serve|version"):
            Client(server.url).judge(SAMPLES)
        assert len(server.asked) == 1


@pytest.mark.parametrize("times", [retry.ATTEMPTS, 1000])
def test_an_answer_without_verdicts_is_a_failure_as_others(times: int) -> None:
    with faulty.serving(*[faulty.written(b'{"judge": {}, "verdicts": 0}\n')] * times) as server:
        with pytest.raises(JudgeError, match="without a verdict on each sample; given up"):
            Client(server.url).judge(SAMPLES)
        assert len(server.asked) == retry.ATTEMPTS


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"reward": float("nan")}, "no verdict"),
        ({"score": float("inf")}, "no verdict"),
        ({"reward": "1.0"}, "the reward '1.0'"),
        ({"reward": True}, "the reward True"),
        ({"reward": 1.0, "status": "failed"}, "the reward 1.0 for the status failed"),
        ({"status": "fine"}, "the status 'fine'"),
        ({"index": True}, "sample True of 5"),
        ({"index": 0}, "two verdicts on sample 0"),
        ({"id": "another"}, "a verdict on 'another' for that on '0'"),
    ],
)
def test_a_strange_verdict_is_refused(more: dict[str, Any], message: str) -> None:
    with faulty.serving(faulty.saying(**more)) as server:
        with pytest.raises(JudgeError, match=message):
            Client(server.url).judge(SAMPLES)
        assert len(server.asked) == 1


@pytest.mark.parametrize(
    "text", [b'{"index": 0, "id": "0", "status": "ok", "reward": 1e999}\n', b'{"index": ' + b"[" * 100_000 + b"\n"]
)
def test_what_cannot_be_read_is_no_verdict(text: bytes) -> None:
    with faulty.serving(faulty.written(text)) as server, pytest.raises(JudgeError, match="no verdict"):
        Client(server.url).judge(SAMPLES)


def test_a_line_is_read_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "MOST_LINE", 1000)
    with faulty.serving(faulty.written(b"x" * 5000 + b"\n")) as server:
        with pytest.raises(JudgeError, match="a line of more than 1,000 bytes"):
            Client(server.url).judge(SAMPLES)
        assert len(server.asked) == 1


def test_a_refusal_may_be_anything() -> None:
    def nested(handler: faulty.Handler, samples: list[dict[str, Any]]) -> None:
        handler.send_response(400)
        handler.send_header("X-Request-Id", "abc-1")
        handler.end_headers()
        handler.wfile.write(b"[" * 100_000)

    with faulty.serving(nested) as server, pytest.raises(JudgeError, match=r"answers 400: .*\(request abc-1\)"):
        Client(server.url).judge(SAMPLES)


def test_a_dead_address_is_found_when_the_judge_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "REACHED_WITHIN", 0.0)
    with faulty.serving() as server:
        with Judge(url=server.url):
            assert server.asked == []
        server.alive = False
        with pytest.raises(JudgeError, match="500.*Is the server running"):
            Judge(url=server.url)
    with pytest.raises(JudgeError, match="refused.*Is the server running"):
        Judge(url=server.url)


def test_a_server_that_is_just_being_started_is_waited_for() -> None:
    with faulty.serving() as server:
        server.alive = False
        threading.Timer(0.3, lambda: setattr(server, "alive", True)).start()
        with Judge(url=server.url):
            assert server.alive


def test_it_gives_up_after_failures_in_a_row() -> None:
    with faulty.serving(*[faulty.hung_up] * 100) as server:
        with pytest.raises(JudgeError, match="given up"):
            Client(server.url).judge(SAMPLES)
        assert len(server.asked) == retry.ATTEMPTS


def test_it_gives_up_where_nobody_listens() -> None:
    with faulty.serving() as server:
        url = server.url
    with pytest.raises(JudgeError, match="Connection refused; given up"):
        Client(url).judge(SAMPLES)


def test_a_server_that_loads_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    with faulty.serving(*[faulty.refused(503, "loading")] * (retry.ATTEMPTS + 2)) as server:
        assert ids(Client(server.url).judge(SAMPLES)) == IDS
    monkeypatch.setattr(retry, "PATIENCE", 0.1)
    with faulty.serving(*[faulty.refused(503, "loading")] * 1000) as server:
        with pytest.raises(JudgeError, match="503: loading; given up"):
            Client(server.url).judge(SAMPLES)


def test_a_call_has_a_deadline() -> None:
    with faulty.serving(faulty.silent(5.0)) as server:
        started = time.monotonic()
        with pytest.raises(JudgeError, match="not done within 0.3 s"):
            Client(server.url).judge(SAMPLES, timeout=0.3)
        assert time.monotonic() - started < 4.0
        # One of several requests of a call: the time is the call's.
        with pytest.raises(JudgeError, match="not done within 2 s"):
            Client(server.url).judge(SAMPLES, timeout=2.0, started=time.monotonic() - 3.0)


def test_a_server_that_is_known_to_be_dead_is_not_asked_again() -> None:
    def dead() -> None:
        raise JudgeError("it has ended")

    with faulty.serving(faulty.hung_up) as server:
        with pytest.raises(JudgeError, match="it has ended"):
            Client(server.url, before_retry=dead).judge(SAMPLES)
        assert len(server.asked) == 1


@pytest.mark.parametrize("behaviour", [faulty.silent(5.0), faulty.closing(5.0)])
def test_a_call_can_be_cancelled_from_another_thread(behaviour: faulty.Behaviour) -> None:
    cancellation = Cancellation()
    with faulty.serving(behaviour) as server:
        threading.Timer(0.1, cancellation.cancel).start()
        started = time.monotonic()
        with pytest.raises(JudgeError, match="cancelled"):
            Client(server.url).judge(SAMPLES, cancellation=cancellation)
        assert time.monotonic() - started < 4.0
        with pytest.raises(JudgeError, match="cancelled"):
            Client(server.url).judge(SAMPLES, cancellation=cancellation)


def test_cancelled_tasks_end_at_once() -> None:
    async def cancelled(url: str) -> None:
        with Judge(url=url) as judge:
            task = asyncio.create_task(judge.ajudge([{"id": "0"}]))
            await asyncio.sleep(0.1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    with faulty.serving(faulty.silent(5.0)) as server:
        started = time.monotonic()
        asyncio.run(cancelled(server.url))
        assert time.monotonic() - started < 4.0


def test_more_calls_than_threads_wait_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("juror_rs.background.MOST_THREADS", 3)
    most = 0

    async def ask(judge: Judge, number: int) -> str | None:
        nonlocal most
        (verdict,) = await judge.ajudge([{"id": str(number)}])
        most = max(most, sum(thread.name == "juror call" for thread in threading.enumerate()))
        return verdict.id

    async def ask_many(url: str) -> list[str | None]:
        with Judge(url=url) as judge:
            tasks = [asyncio.create_task(ask(judge, number)) for number in range(20)]
            await asyncio.sleep(0.01)
            tasks[10].cancel()  # It waits still, and asks nothing.
            answers = await asyncio.gather(*tasks, return_exceptions=True)
            return [None if isinstance(answer, BaseException) else answer for answer in answers]

    with faulty.serving(*[faulty.waiting(0.05)] * 20) as server:
        answers = asyncio.run(ask_many(server.url))
        assert answers == [str(number) if number != 10 else None for number in range(20)]
        assert most == 3
        assert ["10"] not in server.asked


def test_a_key_in_the_address_is_sent_and_not_shown() -> None:
    with faulty.serving(faulty.refused(401)) as server:
        address = server.url.replace("http://", "http://me:s%20cret@")
        client = Client(address)
        assert client.url == server.url
        with pytest.raises(JudgeError) as caught:
            client.judge(SAMPLES)
        assert "cret" not in str(caught.value)
        assert server.headers[0]["Authorization"] == "Bearer s cret"
        assert server.headers[0]["X-Client-Id"] == "me"


def test_an_address_must_be_one() -> None:
    for url in ("localhost:8000", "ftp://host", "http://", ""):
        with pytest.raises(ValueError, match="no address of a server"):
            Transport(url)


def test_a_refusal_is_read_up_to_a_bound() -> None:
    sent = 0

    def endless(handler: faulty.Handler, samples: list[dict[str, Any]]) -> None:
        nonlocal sent
        handler.send_response(400)
        handler.send_header("Connection", "close")
        handler.end_headers()
        with contextlib.suppress(OSError):
            while sent < 1 << 28:
                sent += handler.wfile.write(b"x" * 65536)

    with faulty.serving(endless) as server, pytest.raises(JudgeError, match="400"):
        Client(server.url).judge(SAMPLES)
    assert sent < 64 << 20
