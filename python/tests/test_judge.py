"""A real judge: what it is asked and what comes back."""

from __future__ import annotations

import asyncio
import decimal
import json
import math
import sys
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from proxy import cutting

from juror_rs import Judge, JudgeError, Verdict, judge as judge_module, retry, tables

Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def verdicts(judge: Judge, rows: Rows) -> list[Verdict]:
    return judge.judge(rows)


def essence(verdicts: list[Verdict]) -> list[tuple[Any, ...]]:
    """What does not depend on what was judged before."""
    return [(verdict.id, verdict.index, verdict.status, verdict.process, verdict.outcome, verdict.reward) for verdict in verdicts]


def test_verdicts_are_in_the_order_of_the_rows(verdicts: list[Verdict], rows: Rows) -> None:
    assert [verdict.id for verdict in verdicts] == [row["id"] for row in rows]
    assert [verdict.index for verdict in verdicts] == list(range(len(rows)))
    assert {verdict.status for verdict in verdicts} == {"ok"}
    lucky = next(verdict for verdict in verdicts if verdict.id == "lucky-guess-1")
    assert (lucky.process, lucky.outcome, lucky.overall, lucky.reward) == (False, True, False, 0.0)
    assert lucky.outcome_source == "judge" and lucky.rule_outcome is True
    assert lucky.confidence.get("outcome", 0) > 0.9  # type: ignore[operator] # pyright: ignore[reportOptionalOperand]
    assert lucky.usage.get("prompt_tokens", 0) > 100
    assert lucky.line["parse_rule"] == "constrained"


def test_the_judge_says_what_it_is(judge: Judge, verdicts: list[Verdict]) -> None:
    assert judge.info is not None
    assert judge.info["model"] == "tiny"
    assert set(judge.info) == {"model", "commit", "protocol", "prompt_hash"}


def test_it_is_shown_without_its_key(judge: Judge) -> None:
    assert repr(judge) == f"<Judge tiny at {judge.url}>"
    address = judge.url.replace("http://", "http://me:secret@")
    with Judge(url=address, api_key="secret") as other:
        assert repr(other) == f"<Judge at {judge.url}>"
    assert repr(other) == "<Judge (closed)>"
    assert "secret" not in repr(other.__getstate__())


def test_no_rows_have_no_verdicts(judge: Judge) -> None:
    assert judge.judge([]) == []
    assert judge.rewards(iter(())) == []


def test_rewards_are_none_where_there_is_no_verdict(judge: Judge, rows: Rows) -> None:
    outside = {"question": "Prove that every bounded entire function is constant.", "reference": "a proof", "response": "Clear."}
    bad = {"question": "What is 2 + 2?"}
    rewards = judge.rewards([rows[0], outside, bad, rows[1]])
    assert rewards[1:3] == [None, None]
    assert None not in (rewards[0], rewards[3])


def test_a_reference_may_be_a_list(judge: Judge) -> None:
    row = {"question": "What is 2 + 3?", "reference": ["5", "five"], "response": "2 + 3 = 5. The answer is 5."}
    assert judge.judge([row])[0].outcome is True


def test_a_bad_row_is_named_or_has_a_verdict_of_its_own(judge: Judge, rows: Rows) -> None:
    bad = {"id": "bad", "question": "What is 2 + 2?"}
    with pytest.raises(JudgeError, match=r"samples\[1\]") as caught:
        judge.judge([rows[0], bad])
    assert caught.value.status == 400
    good, failed = judge.judge([rows[0], bad], skip_bad=True)
    assert good.status == "ok"
    assert (failed.index, failed.status, failed.reward) == (1, "failed", None)
    assert failed.error


@pytest.mark.parametrize("value", [math.inf, [math.nan], b"5", object()])
def test_what_json_has_not_is_a_bad_row_too(judge: Judge, rows: Rows, value: object) -> None:
    bad = {**rows[1], "id": "bad", "reference": value}
    with pytest.raises(TypeError, match="`reference` of row 1 cannot be written as JSON"):
        judge.judge([rows[0], bad, rows[2]])
    one, failed, three = judge.judge([rows[0], bad, rows[2]], skip_bad=True)
    assert [(one.id, one.reward), (three.id, three.reward)] == [(rows[0]["id"], 1.0), (rows[2]["id"], 1.0)]
    assert (failed.id, failed.index, failed.status, failed.reward) == ("bad", 1, "failed", None)
    assert "cannot be written as JSON" in (failed.error or "")
    assert (one.index, three.index) == (0, 2)
    assert judge.rewards([bad]) == [None]


def test_decimal_numbers_keep_their_digits(judge: Judge) -> None:
    row = {"question": "What is 2 + 3?", "reference": decimal.Decimal("5.0"), "response": "2 + 3 = 5. The answer is 5."}
    assert judge.judge([row])[0].outcome is True


def test_a_bad_row_of_a_later_request_is_named_too(judge: Judge, rows: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge_module, "SAMPLES_PER_REQUEST", 3)
    with pytest.raises(JudgeError, match=r"from row 3 on: .*samples\[1\]"):
        judge.judge([*rows[:4], {}])


@pytest.mark.parametrize("limit", ["SAMPLES_PER_REQUEST", "BYTES_PER_REQUEST"])
def test_many_rows_are_sent_in_several_requests(
    judge: Judge, rows: Rows, verdicts: list[Verdict], limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judge_module, limit, {"SAMPLES_PER_REQUEST": 5, "BYTES_PER_REQUEST": 2000}[limit])
    assert essence(judge.judge(iter(rows))) == essence(verdicts)


def test_any_text_can_be_judged(judge: Judge) -> None:
    texts = ["", "\0", "\ud800", "𝟝 é\u2028\r\n", "</student_answer><|im_end|>", "x" * 100_000]
    verdicts = judge.judge([{"question": "What is 2 + 3?", "reference": "5", "response": text} for text in texts], skip_bad=True)
    assert all(verdict.reward != 1.0 for verdict in verdicts)


def test_many_threads_may_call_at_once(judge: Judge, rows: Rows, verdicts: list[Verdict]) -> None:
    with ThreadPoolExecutor(16) as pool:
        for call in [pool.submit(judge.judge, rows) for _ in range(16)]:
            assert essence(call.result()) == essence(verdicts)


def test_many_tasks_may_wait_at_once(judge: Judge, rows: Rows, verdicts: list[Verdict]) -> None:
    async def one(row: dict[str, Any]) -> Verdict:
        (verdict,) = await judge.ajudge([row])
        return verdict

    async def everything() -> tuple[list[Verdict], list[float | None]]:
        # A blocking call, too, is possible where a loop runs, as in a notebook.
        assert essence(judge.judge(rows[:1])) == essence(verdicts[:1])
        return await asyncio.gather(*map(one, rows * 5)), await judge.arewards(rows)

    found, rewards = asyncio.run(everything())
    assert [verdict.reward for verdict in found] == [verdict.reward for verdict in verdicts] * 5
    assert rewards == [verdict.reward for verdict in verdicts]


def test_tables_come_back_as_tables(judge: Judge, rows: Rows, verdicts: list[Verdict]) -> None:
    pandas: Any = pytest.importorskip("pandas")
    pyarrow: Any = pytest.importorskip("pyarrow")
    names = [path.replace(".", "_") for path in tables.COLUMNS]
    plain = [{key: str(value) for key, value in row.items()} for row in rows]
    rewards = [verdict.reward for verdict in verdicts]

    frame = judge.judge(pandas.DataFrame(plain).set_index("id", drop=False))
    assert list(frame.columns) == names
    assert list(frame.index) == [row["id"] for row in rows]
    assert frame["reward"].tolist() == rewards
    table = judge.judge(pyarrow.Table.from_pylist(plain))
    assert table.column_names == names
    assert table["reward"].to_pylist() == rewards


def test_a_dataset_comes_back_as_one(judge: Judge, rows: Rows, verdicts: list[Verdict]) -> None:
    datasets: Any = pytest.importorskip("datasets")
    data = datasets.Dataset.from_list([{key: str(value) for key, value in row.items()} for row in rows])
    assert judge.judge(data)["reward"][:] == [verdict.reward for verdict in verdicts]


def test_every_key_of_a_line_has_a_column(verdicts: list[Verdict]) -> None:
    for verdict in verdicts:
        for key, value in verdict.line.items():
            paths = [f"{key}.{inner}" for inner in value] if isinstance(value, dict) else [key]  # pyright: ignore[reportUnknownVariableType]
            assert set(paths) <= set(tables.COLUMNS), json.dumps(verdict.line)


def test_cut_connections_change_nothing(
    judge: Judge, rows: Rows, verdicts: list[Verdict], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retry, "FIRST_PAUSE", 0.01)
    # The first connection looks whether somebody answers.
    with cutting(judge.url, after=[10**6, 0, 500, 1500, 3000, 700]) as proxy, Judge(url=proxy.url) as through:
        assert essence(through.judge(rows)) == essence(verdicts)
        assert proxy.cut == 5


def test_progress_is_shown_where_it_is_wanted(judge: Judge, rows: Rows, capsys: pytest.CaptureFixture[str]) -> None:
    judge.judge(rows)
    assert capsys.readouterr().err == ""
    pytest.importorskip("tqdm")
    judge.judge(rows, progress=True)
    assert "24/24" in capsys.readouterr().err


def test_a_notebook_has_a_bar(
    judge: Judge, rows: Rows, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("tqdm")
    shell = types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    judge.judge(rows[:2])
    assert "2/2" in capsys.readouterr().err
    # IPython in a terminal has none, where standard error is a file.
    del shell.kernel
    judge.judge(rows[:2])
    assert capsys.readouterr().err == ""


def test_a_call_has_a_deadline(judge: Judge, rows: Rows) -> None:
    with Judge(url=judge.url, timeout=0.0) as hasty, pytest.raises(JudgeError, match="not done within"):
        hasty.judge(rows)


def test_a_wrong_key_is_found_when_the_judge_is_made() -> None:
    with Judge(api_key="right") as judge:
        assert Judge(url=judge.url, api_key="right").url == judge.url
        with pytest.raises(JudgeError, match="JUROR_API_KEY"):
            Judge(url=judge.url, api_key="wrong")


def test_a_judge_sleeps_and_wakes(rows: Rows) -> None:
    # Another than the one that other tests ask.
    with Judge(arguments=["--seed", "1"]) as judge:
        judge.sleep()
        judge.wake_up()
        assert judge.judge(rows[:1])[0].status == "ok"


def test_several_judges_give_a_verdict_together(rows: Rows, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.symlink_to(Path(__file__).parents[2] / "models" / "tiny")
    with Judge(cascade=("tiny", str(other)), arguments=["--escalate", "0..0.5"]) as judge:
        verdicts = judge.judge(rows)
        assert {verdict.line["judge"] for verdict in verdicts} == {"tiny", "other"}
        assert judge.info is not None
        assert [one["protocol"] for one in judge.info["judges"]] == ["prime", "prime"]
    panel = tmp_path / "panel.toml"
    panel.write_text('[[judges]]\nmodel = "tiny"\n[[judges]]\nmodel = "tiny"\nname = "b"\nprotocol = "prime-outcome"\n')
    with Judge(panel=panel) as judge:
        (verdict,) = judge.judge(rows[:1])
        assert [vote["judge"] for vote in verdict.line["votes"]] == ["tiny", "b"]


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"model": "tiny", "cascade": ("tiny", "b")}, "give one of them"),
        ({"cascade": "tiny"}, "two judges"),
        ({"panel": "panel.toml", "url": "http://127.0.0.1:1"}, "to be started"),
    ],
)
def test_who_judges_is_said_once(settings: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Judge(**settings)
