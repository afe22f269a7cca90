"""A NeMo Gym resources server with `juror_rs.nemo_gym`: its web application, routes and metrics."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

pytest.importorskip("nemo_gym.base_resources_server")

from shared import HOSTILE, OUTSIDE  # noqa: E402
from fastapi.testclient import TestClient  # noqa: E402
from nemo_gym.server_utils import ServerClient  # noqa: E402

from juror_rs.nemo_gym import (  # noqa: E402
    JurorResourcesServer,
    JurorResourcesServerConfig,
    LibraryJudgeResourcesServer,
    LibraryJudgeResourcesServerConfig,
)


def resources_server(**settings: Any) -> JurorResourcesServer:
    config = JurorResourcesServerConfig(host="127.0.0.1", port=0, entrypoint="app.py", name="juror", juror=settings)
    return JurorResourcesServer(config=config, server_client=ServerClient.model_construct())


def application(**settings: Any) -> TestClient:
    """The server's web application, as `run_webserver` has it."""
    return TestClient(resources_server(**settings).setup_webserver())


def rollout(question: str, reference: Any, response: str) -> dict[str, Any]:
    """What an agent sends to `/verify` at the end of a rollout."""
    return {
        "responses_create_params": {"input": [{"role": "user", "content": question}]},
        "expected_answer": reference,
        "task_name": "kept",
        "response": {
            "id": "resp",
            "created_at": 0,
            "model": "policy",
            "object": "response",
            "parallel_tool_calls": False,
            "tool_choice": "none",
            "tools": [],
            "output": [
                {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "hm"}]},
                {
                    "type": "message",
                    "id": "m",
                    "role": "assistant",
                    "status": "completed",
                    "content": [{"type": "output_text", "text": response, "annotations": []}],
                },
            ],
        },
    }


def verified(client: TestClient, question: str, reference: Any, response: str) -> dict[str, Any]:
    answer = client.post("/verify", json=rollout(question, reference, response))
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_rewards_are_those_of_juror_judge(
    server: str, rows: list[dict[str, Any]], offline: list[dict[str, Any]]
) -> None:
    client = application(url=server)
    for row, verdict in zip(rows, offline, strict=True):
        answer = verified(client, row["question"], row["reference_answer"], row["student_answer"])
        assert (answer["reward"], answer["process"], answer["outcome"]) == (
            verdict["reward"],
            verdict["process"],
            verdict["outcome"],
        )
        assert not answer["mask_sample"] and answer["failure_kind"] is None and answer["task_name"] == "kept"


def test_failures_are_masked_and_leave_the_metrics(server: str, rows: list[dict[str, Any]]) -> None:
    client = application(url=server)
    row = rows[0]
    good = verified(client, row["question"], row["reference_answer"], row["student_answer"])
    failed = verified(client, OUTSIDE, "true", "Liouville.")
    assert failed["mask_sample"] and failed["failure_kind"] == "judge_failed" and failed["judge_status"] == "out_of_domain"
    results = [
        {**answer, "_ng_task_index": place, "_ng_rollout_index": 0} for place, answer in enumerate([good, failed])
    ]
    metrics = client.post("/aggregate_metrics", json={"verify_responses": results}).json()
    assert metrics["agent_metrics"]["mean/reward"] == 1.0


def test_hostile_text_earns_nothing(server: str, rows: list[dict[str, Any]]) -> None:
    answer = verified(application(url=server), rows[0]["question"], rows[0]["reference_answer"], HOSTILE)
    assert answer["reward"] == 0.0 and not answer["mask_sample"]


def test_a_server_that_is_down_goes_to_the_failures(rows: list[dict[str, Any]]) -> None:
    answer = verified(application(url="http://127.0.0.1:9", timeout=2.0), rows[0]["question"], "17", "17")
    assert answer["mask_sample"] and answer["failure_kind"] == "judge_failed"
    assert answer["_ng_failure_class"] == "judge_failed"


def test_a_judge_that_cannot_be_started_goes_to_the_failures(
    rows: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JUROR_URL", raising=False)
    answer = verified(application(model="./no-such-folder"), rows[0]["question"], "17", "17")
    assert answer["mask_sample"] and answer["_ng_failure_class"] == "judge_failed"


def test_the_judge_is_made_once_and_the_loop_runs_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, released, made = threading.Event(), threading.Event(), []

    def make(**settings: Any) -> object:
        made.append(settings)
        begun.set()
        assert released.wait(30), "the event loop stands still"
        return object()

    async def two_calls() -> list[object]:
        server = resources_server(model="slow")
        calls = asyncio.gather(server._connected(), server._connected())
        while not begun.is_set():
            await asyncio.sleep(0.01)
        released.set()
        return await calls

    monkeypatch.setattr("juror_rs.nemo_gym.Judge", make)
    first, second = asyncio.run(two_calls())
    assert first is second and made == [{"model": "slow"}]


def library(juror: dict[str, Any] | None = None, **settings: Any) -> TestClient:
    config = LibraryJudgeResourcesServerConfig(
        host="127.0.0.1", port=0, entrypoint="app.py", name="juror", juror=juror or {}, **settings
    )
    server = LibraryJudgeResourcesServer(config=config, server_client=ServerClient.model_construct())
    return TestClient(server.setup_webserver())


def test_the_rules_answer_in_the_shape_of_math_with_judge(
    rows: list[dict[str, Any]], by_rules: list[float | None]
) -> None:
    client = library()
    for row, reward in zip(rows, by_rules, strict=True):
        answer = verified(client, row["question"], row["reference_answer"], row["student_answer"])
        assert answer["reward"] == answer["library_reward"] == (reward or 0.0)
        assert answer["mask_sample"] == (reward is None) and answer["judge_evaluations"] is None
        assert answer["expected_answer"] == row["reference_answer"] and answer["task_name"] == "kept"
    answer = verified(client, "?", ["7", "8"], r"So it is \boxed{8}.")
    assert (answer["reward"], answer["extracted_answer"]) == (1.0, "8")
    answer = verified(client, "?", "7", r"$\frac{7$")
    assert answer["mask_sample"] and answer["failure_kind"] == "juror:undecided" and answer["failure_reason"]


def test_its_keys_are_those_of_the_librarys_own_answers() -> None:
    app = pytest.importorskip("resources_servers.math_with_judge.app", exc_type=ImportError)
    wanted = set(app.LibraryJudgeMathVerifyResponse.__annotations__) | {"reward"}
    assert wanted <= set(verified(library(), "1 + 1?", "2", "2"))


UNCLEAR = "First 7 × 8 = 56.\nThen 56 - 39 = 17.\nThe answer is at least 17."


def test_the_judge_is_asked_where_the_rules_cannot_tell(server: str, rows: list[dict[str, Any]]) -> None:
    client = library({"url": server}, should_use_judge=True)
    row = rows[0]
    right = verified(client, row["question"], row["reference_answer"], row["student_answer"])
    assert right["library_reward"] == 1.0 and right["judge_evaluations"] is None
    unclear = verified(client, row["question"], row["reference_answer"], UNCLEAR)
    assert unclear["library_reward"] == 0.0
    (evaluation,) = unclear["judge_evaluations"]
    assert evaluation["status"] == "ok" and unclear["reward"] == float(evaluation["outcome"])
    failed = verified(client, OUTSIDE, "true", "at least true")
    assert failed["mask_sample"] and failed["failure_kind"] == "judge_failed"


def test_its_metrics_are_those_of_math_with_judge() -> None:
    client = library()
    said = [verified(client, "?", "7", text) for text in ("It is 7.", "It is 8.", "It is 7.")]
    results = [{**answer, "_ng_task_index": 0, "_ng_rollout_index": place} for place, answer in enumerate(said)]
    metrics = client.post("/aggregate_metrics", json={"verify_responses": results}).json()["agent_metrics"]
    assert metrics["pass@1[avg-of-3]/symbolic_accuracy"] == pytest.approx(200 / 3)
    assert metrics["majority@3/symbolic_accuracy"] == 100.0


def test_rollouts_are_verified_at_once(everywhere: Any) -> None:
    assert [answer["reward"] for answer in everywhere(verify_again)] == [float(place == 8) for place in range(16)] * 3


def verify_again(place: int) -> dict[str, Any]:
    return verified(library(), "?", "8", f"The answer is {place}.")
