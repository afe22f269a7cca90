"""Local LLM judges, and a rule-based verifier of mathematical answers.

>>> from juror_rs import verify
>>> verify("1/2", "Half of them, so the answer is **0.5**.").equal
True

| module | what it holds |
|---|---|
| `judge` | `Judge`: verdicts of a model, by a server that it starts or finds |
| `rules` | `verify`, `verify_batch`, `verify_parts`: final answers compared without a model |
| `math_verify` | `parse` and `verify` in the shape of Math-Verify |
| `trl`, `verl`, `nemo_gym`, `inspect`, `lm_eval`, `lighteval`, `verifiers`, `skyrl_gym`, `ray` | one adapter for each framework |
"""

from juror_rs._compiled import version
from juror_rs.errors import JudgeError
from juror_rs.judge import Judge
from juror_rs.rules import Verification, verify, verify_batch, verify_parts
from juror_rs.verdict import Verdict

__version__ = version()

__all__ = ["Judge", "JudgeError", "Verdict", "Verification", "__version__", "verify", "verify_batch", "verify_parts"]
