#!/usr/bin/env bash
# azure-ai-evaluation 1.18.10: on a scale from 0 to 10, a search that finds both documents of grade 10 has a fidelity
# of 0.10, and one that finds only the document of grade 5 has 0.90.
#
# `DocumentRetrievalEvaluator` takes the grades' range, from 0 to 4 if one says nothing. Its fidelity is the weight of
# the graded documents that are found, as a share of the weight of all, where a grade g above the least weighs 2^(g+1)-1.
# One would expect that on each scale. Seen: the counts of the grades are sorted by the grade as a text, so that 10 stands
# between 1 and 2, and are multiplied by weights in the order of the numbers. Up to 9 that is the same. With 10, a
# document of grade 10 weighs 7, one of grade 2 weighs 15, and one of grade 9 the 2047 that are meant for 10. Of the
# same grades nDCG and XDCG are right. There is no warning, as a fidelity is from 0 to 1 all the same and finding
# everything is still 1.
#
# Whom it hits: evaluations of retrieval with grades from a judge on the usual scale from 1 to 10, or in percent: the
# search that finds the worse documents passes the threshold, the better one fails.
#
# Prints grades, what is found, fidelity with its verdict, and the share by the weights. Exits with 1 if one is
# another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q azure-ai-evaluation==1.18.10
cat >"$work/try.py" <<'PYTHON'
import sys

from azure.ai.evaluation import DocumentRetrievalEvaluator


def fidelity(grades, found, greatest):
    """Fidelity and its verdict, and the share that the found documents have of the weights."""
    evaluator = DocumentRetrievalEvaluator(ground_truth_label_min=0, ground_truth_label_max=greatest)
    truth = [{"document_id": str(i), "query_relevance_label": grade} for i, grade in enumerate(grades)]
    retrieved = [{"document_id": str(i), "relevance_score": 1 - rank / 100} for rank, i in enumerate(found)]
    properties = evaluator(retrieval_ground_truth=truth, retrieved_documents=retrieved)["document_retrieval_properties"]
    weights = [2 ** (grade + 1) - 1 for grade in grades]
    return round(properties["fidelity"], 3), properties["fidelity_result"], round(sum(weights[i] for i in found) / sum(weights), 3)


# Grades; the greatest there is; which documents are found; fidelity, verdict, and the share.
CASES = [
    ([4, 4, 2], 4, [0, 1], (0.899, "pass", 0.899)),
    ([4, 4, 2], 4, [2], (0.101, "fail", 0.101)),
    ([9, 9, 5], 9, [0, 1], (0.97, "pass", 0.97)),
    ([9, 9, 5], 9, [2], (0.03, "fail", 0.03)),
    ([10, 10, 5], 10, [0, 1], (0.099, "fail", 0.985)),
    ([10, 10, 5], 10, [2], (0.901, "pass", 0.015)),
    ([10, 9, 9], 10, [0], (0.002, "fail", 0.5)),
    ([10, 2], 10, [0], (0.318, "fail", 0.997)),
    ([10, 2], 10, [1], (0.682, "pass", 0.003)),
]

changed = False
for grades, greatest, found, expected in CASES:
    seen = fidelity(grades, found, greatest)
    names = [grades[i] for i in found]
    print(f"0 to {greatest:2}: {grades!s:11} found {names!s:8} fidelity {seen[0]:.3f}, {seen[1]}; by the weights {seen[2]:.3f}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
