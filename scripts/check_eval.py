"""The numbers of `juror eval` against scikit-learn, scipy and statsmodels, on made-up verdicts and labels.

    pip install numpy scipy scikit-learn statsmodels jsonschema
    python scripts/check_eval.py [--juror target/release/juror] [--rounds 40] [--seed 1]

Shares, F1, kappa, Wilson's intervals, McNemar's tests, Brier scores, AUC and calibration errors must agree to 1e-9; bootstrap
intervals to what two bootstraps differ by. Exit code 1 if any does not.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import jsonschema
import numpy as np
from scipy import stats
from sklearn import metrics
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint

TOLERANCE = 1e-9
TASKS = ("overall", "outcome", "process")
checked = 0
wrong: list[str] = []


def check(what: str, ours: float | None, theirs: float | None, tolerance: float = TOLERANCE) -> None:
    global checked
    checked += 1
    if theirs is not None and not np.isfinite(theirs):
        theirs = None
    if (ours is None) != (theirs is None) or (ours is not None and abs(ours - theirs) > tolerance):
        wrong.append(f"{what}: {ours} and {theirs}")


def made_up(count: int, skill: float, subjects: int, labels: list[dict] | None) -> tuple[list[dict], list[dict]]:
    """Labelled rows and a judge's verdicts on them; of a second judge on the same rows."""
    if labels is None:
        labels = []
        for number in range(count):
            process, outcome = random.random() < 0.6, random.random() < 0.6
            labels.append({
                "id": f"s{number}", "question": f"Question {number}?", "reference": "1", "response": "x" * random.randrange(1, 2000),
                "process_label": process, "outcome_label": int(outcome), "overall_label": "correct" if process and outcome else "incorrect",
                "subject": f"subject {random.randrange(subjects)}",
            })
    verdicts = []
    for place, row in enumerate(labels):
        said = {}
        probabilities = {}
        for task in ("process", "outcome"):
            truth = bool(row[f"{task}_label"])
            logit = (1 if truth else -1) * skill + random.gauss(0, 1.5)
            probability = float(np.float32(1 / (1 + np.exp(-logit))))
            said[task], probabilities[task] = probability > 0.5, probability
        status = "ok" if random.random() < 0.95 else random.choice(["unparsed", "failed", "too_long"])
        both = said["process"] and said["outcome"]
        fields = {**said, "overall": both, "reward": float(both)}
        if status != "ok":
            fields = dict.fromkeys(fields)
        verdicts.append({
            "id": row["id"], "index": place, "trial": 0, "status": status, **fields, "perfect": None, "reason": None,
            "outcome_source": "judge" if status == "ok" else None,
            "rule_outcome": random.choice([True, False, None]), "confidence": {**probabilities, "perfect": None},
            "usage": {"prompt_tokens": 700, "cached_tokens": 600, "completion_tokens": random.randrange(1, 300)},
        })
    return labels, verdicts


def truth(row: dict, task: str) -> bool:
    return row[f"{task}_label"] in (True, 1, "correct")


def judge_checks(name: str, ours: dict, labels: list[dict], verdicts: list[dict]) -> None:
    for task in TASKS:
        scores = ours["tasks"][task]
        true = np.array([truth(row, task) for row in labels])
        said = [verdict[task] for verdict in verdicts]
        answered = np.array([answer is not None for answer in said])
        # Nothing said is not said to be true, and is wrong all the same.
        as_false = np.array([bool(answer) for answer in said])
        right = (as_false == true) & answered
        where = f"{name} {task}"
        check(f"{where} accuracy", scores["accuracy"]["share"], right.mean())
        check(f"{where} selective", scores["selective_accuracy"]["share"], metrics.accuracy_score(true[answered], as_false[answered]))
        check(f"{where} precision", scores["precision"]["share"], metrics.precision_score(true, as_false))
        check(f"{where} recall", scores["recall"]["share"], metrics.recall_score(true, as_false))
        check(f"{where} F1", scores["f1"]["value"], metrics.f1_score(true, as_false))
        check(f"{where} kappa", scores["kappa"]["value"], metrics.cohen_kappa_score(true[answered], as_false[answered]))
        for ours_end, theirs in zip(scores["accuracy"]["interval"], proportion_confint(right.sum(), len(right), method="wilson")):
            check(f"{where} Wilson", ours_end, theirs)
        matrix = [[0, 0, 0], [0, 0, 0]]
        for label, answer in zip(true, said):
            matrix[int(label)][2 if answer is None else int(answer)] += 1
        check(f"{where} confusion", float(scores["confusion"] == matrix), 1.0)
        resampled = stats.bootstrap(
            (true, as_false), metrics.f1_score, paired=True, vectorized=False, n_resamples=300, method="percentile", random_state=1
        ).confidence_interval
        for ours_end, theirs in zip(scores["f1"]["interval"], resampled):
            check(f"{where} bootstrap of F1", ours_end, theirs, 0.03)
    lucky = [verdict["overall"] is False for row, verdict in zip(labels, verdicts) if truth(row, "outcome") and not truth(row, "overall")]
    check(f"{name} lucky guesses", ours["lucky_guesses"] and ours["lucky_guesses"]["share"], np.mean(lucky) if lucky else None)


def reliability_checks(ours: dict, labels: list[dict], verdicts: list[dict]) -> None:
    for task in TASKS:
        reliability = ours["reliability"][task]
        true = np.array([truth(row, task) for row in labels])
        of = lambda verdict, field: verdict["confidence"][field]  # noqa: E731
        p = np.array([of(v, "process") * of(v, "outcome") if task == "overall" else of(v, task) for v in verdicts])
        check(f"{task} Brier", reliability["brier"], metrics.brier_score_loss(true, p))
        auc = metrics.roc_auc_score(true, p)
        check(f"{task} AUC", reliability["auc"], auc)
        # The variance of DeLong et al. 1988; a share of as many rows has the same.
        above = (p[true][:, None] > p[~true]) + (p[true][:, None] == p[~true]) / 2
        variance = sum(above.mean(axis).var(ddof=1) / above.shape[1 - axis] for axis in (0, 1))
        rows = auc * (1 - auc) / variance if variance else min(above.shape)
        for ours_end, theirs in zip(reliability["auc_interval"], proportion_confint(auc * rows, rows, method="wilson")):
            check(f"{task} interval of AUC", ours_end, theirs)
        resampled = stats.bootstrap(
            (true, p), metrics.roc_auc_score, paired=True, vectorized=False, n_resamples=300, method="percentile", random_state=1
        ).confidence_interval
        for ours_end, theirs in zip(reliability["auc_interval"], resampled):
            check(f"{task} bootstrap of AUC", ours_end, theirs, 0.06)
        bins = np.minimum((p * 10).astype(int), 9)
        error = sum(abs(p[bins == b].sum() - true[bins == b].sum()) for b in range(10)) / len(p)
        check(f"{task} calibration error", reliability["calibration_error"], error)
        accuracies = [((p >= t) == true).mean() for t in [0.0, 1.1, *p]]
        check(f"{task} best accuracy", reliability["best_accuracy"]["value"], max(accuracies))
        check(f"{task} accuracy at its threshold", ((p >= reliability["best_accuracy"]["threshold"]) == true).mean(), max(accuracies))
        f1s = [metrics.f1_score(true, p >= t) for t in [0.0, *p]]
        check(f"{task} best F1", reliability["best_f1"]["value"], max(f1s))


def comparison_checks(ours: dict, labels: list[dict], first: list[dict], second: list[dict]) -> None:
    for task in TASKS:
        comparison = ours["against_first"][task]
        true = np.array([truth(row, task) for row in labels])
        right = [np.array([verdict[task] == label for verdict, label in zip(judge, true)]) for judge in (first, second)]
        table = [[int((a & b).sum()) for b in (right[1], ~right[1])] for a in (right[0], ~right[0])]
        exact, asymptotic = mcnemar(table, exact=True), mcnemar(table, exact=False, correction=True)
        test = comparison["mcnemar"]
        check(f"{task} McNemar exact", test["p_exact"], exact.pvalue)
        if table[0][1] + table[1][0]:
            check(f"{task} McNemar statistic", test["statistic"], asymptotic.statistic)
            check(f"{task} McNemar p", test["p_asymptotic"], asymptotic.pvalue)
        check(f"{task} difference", comparison["accuracy"]["value"], right[1].mean() - right[0].mean())
        resampled = stats.bootstrap(
            tuple(right), lambda a, b, axis: b.mean(axis=axis) - a.mean(axis=axis), paired=True, n_resamples=2000, method="percentile",
            random_state=1,
        ).confidence_interval
        for ours_end, theirs in zip(comparison["accuracy"]["interval"], resampled):
            check(f"{task} bootstrap of the difference", ours_end, theirs, 0.02)
        flips = {flip["id"] for flip in comparison["flips"]}
        check(f"{task} flips", float(flips == {row["id"] for row, a, b in zip(labels, *right) if a != b}), 1.0)


def correlation_checks(juror: str, folder: Path) -> None:
    count = random.randrange(3, 40)
    x = [random.uniform(50, 90) for _ in range(count)]
    y = [0.7 * value + random.gauss(0, 5) for value in x]
    (folder / "scores.csv").write_text("judge,accuracy,score\n" + "".join(f"j{n},{a!r},{b!r}\n" for n, (a, b) in enumerate(zip(x, y))))
    subprocess.run([juror, "correlate", "scores.csv", "--json", "fit.json"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    ours = json.loads((folder / "fit.json").read_text())["fits"][0]
    theirs = stats.linregress(x, y)
    check("slope", ours["slope"]["value"], theirs.slope)
    check("intercept", ours["intercept"], theirs.intercept)
    check("correlation", ours["correlation"], theirs.rvalue)
    check("R squared", ours["r_squared"]["value"], theirs.rvalue**2)
    check("p of no slope", ours["p"], theirs.pvalue)
    half = stats.t.ppf(0.975, count - 2) * theirs.stderr
    for ours_end, end in zip(ours["slope"]["interval"], (theirs.slope - half, theirs.slope + half)):
        check("interval of the slope", ours_end, end)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--juror", default="target/release/juror")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    random.seed(arguments.seed)
    schema = json.loads(subprocess.run([arguments.juror, "eval", "--json-schema"], check=True, capture_output=True).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    for number in range(arguments.rounds):
        count = random.choice([60, 200, 1000])
        labels, first = made_up(count, random.uniform(0.5, 3), random.randrange(1, 5), None)
        _, second = made_up(count, random.uniform(0.5, 3), 0, labels)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for file, rows in (("labels", labels), ("first", first), ("second", random.sample(second, len(second)))):
                (folder / f"{file}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
            command = [str(Path(arguments.juror).resolve()), "eval", "first.jsonl", "--labels", "labels.jsonl"]
            command += ["--compare", "second.jsonl", "--json", "out.json"]
            subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            report = json.loads((folder / "out.json").read_text())
            correlation_checks(command[0], folder)
        jsonschema.validate(report, schema)
        judges = report["judges"]
        judge_checks(f"round {number}", judges[0]["all"], labels, first)
        judge_checks(f"round {number} second", judges[1]["all"], labels, second)
        reliability_checks(judges[0], labels, first)
        comparison_checks(judges[1], labels, first, second)
        subjects = sorted({row["subject"] for row in labels})
        for subject in subjects:
            part = [place for place, row in enumerate(labels) if row["subject"] == subject]
            measures = judges[0]["by_subject"][subject]["tasks"]["overall"]
            right = [first[place]["overall"] == truth(labels[place], "overall") for place in part]
            check(f"{subject} accuracy", measures["accuracy"]["share"], np.mean(right))
    print(f"{checked} numbers compared, {len(wrong)} differ")
    for line in wrong[:20]:
        print(line)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
