// Samples with labels and verdicts on them, the same each time; some with texts that would run, load or overflow.

import { writeFileSync } from "node:fs";
import { join } from "node:path";

// A generator of numbers with a seed (mulberry32): the same samples each time.
let state = 7;
const random = () => {
  state = (state + 0x6d2b79f5) | 0;
  let value = Math.imul(state ^ (state >>> 15), 1 | state);
  value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
  return ((value ^ (value >>> 14)) >>> 0) / 4294967296;
};
const pick = (all) => all[Math.floor(random() * all.length)];

const STEPS = [
  "We start from $f(x)=\\frac{a x^2+b}{c}$ and set $f'(x)=0$, so that $2ax=0$.",
  "By conservation of energy \\(\\frac12 m v^2 = m g h\\), hence \\(v=\\sqrt{2gh}\\).",
  "\\[\\int_0^\\infty e^{-x^2}\\,dx = \\frac{\\sqrt{\\pi}}{2}\\]",
  "Using $\\ln K = -\\frac{\\Delta G^\\circ}{RT}$ with $T=298\\ \\text{K}$ gives the equilibrium constant.",
  "$$\\begin{aligned} a &= b + c \\\\ &= d \\end{aligned}$$",
  "The dominant allele is expressed in both genotypes, so the ratio of phenotypes is 3 to 1.",
  "The matrix $\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}$ has determinant $-2$.",
];
const HOSTILE = [
  "<script>window.harm = 1</script>",
  "<img src=x onerror='window.harm = 2'>",
  "</style><style>body { display: none }</style>",
  "</script><script>window.harm = 3</script>",
  '<a href="javascript:window.harm = 4">x</a>',
  "$</math><script>window.harm = 5</script>$",
  "$\\operatorname{<img src=x onerror=window.harm=6>}$",
  "{{7*7}} {% for x in y %}",
  "\u202edesrever\u2066 \u0007 \u001b[31m",
  "<svg onload=window.harm=7>",
  "$\\href{javascript:window.harm=8}{x}$",
  "<!-- --> <iframe src=http://127.0.0.1:9/x></iframe>",
  "<link rel=stylesheet href=http://127.0.0.1:9/y.css><base href=http://127.0.0.1:9/>",
  "a" + "\u0301".repeat(300),
  "wide ".padEnd(4000, "W"),
  "$" + "x+".repeat(900) + "x$",
];

/// Samples with labels and the verdicts of two judges.
export const write = (folder, count, hostile) => {
  const lines = { labels: [], small: [], large: [] };
  for (let number = 0; number < count; number += 1) {
    const outcome = random() < 0.62;
    const process = outcome && random() < 0.75;
    const evil = () => (hostile && random() < 0.5 ? `${pick(HOSTILE)} ` : "");
    const subject = hostile && random() < 0.1 ? pick(HOSTILE).slice(0, 60) : pick(["Math", "Physics", "Chemistry", "Biology"]);
    const id = `${evil().slice(0, 40)}sample-${String(number).padStart(5, "0")}`;
    const steps = Array.from({ length: 4 + Math.floor(random() * 14) }, () => evil() + pick(STEPS));
    lines.labels.push({
      id, subject, answer_type: pick(["number", "expression", "choice"]),
      question: `${evil()}A quantity satisfies $x_{${number % 9}}^2 + ${number % 7}x = ${number % 50}$. Find its larger value and justify every step.`,
      reference_answer: `$${Math.floor(random() * 100)}$`, response: `${steps.join(" ")}\n\nFinal answer: $\\boxed{${Math.floor(random() * 100)}}$`,
      outcome_label: outcome, process_label: process, overall_label: outcome && process,
    });
    for (const [judge, skill, tokens] of [["small", 0.8, 60], ["large", 0.9, 900]]) {
      const said = [process, outcome].map((label) => (random() < skill ? label : !label));
      const probability = (yes) => 0.5 + (yes ? 1 : -1) * (0.5 - 0.5 * random() ** 2);
      const read = random() > 0.02;
      lines[judge].push({
        id, index: number, trial: 0, status: read ? "ok" : "unparsed", process: read ? said[0] : null, outcome: read ? said[1] : null,
        overall: read ? said[0] && said[1] : null, reward: read ? Number(said[0] && said[1]) : null, rule_outcome: random() < 0.5 ? outcome : null,
        reason: read ? `${evil()}The derivation ${said[0] ? "holds" : "has a gap"}: $2ax=0$ is used in the second step.` : null,
        confidence: { process: read ? probability(said[0]) : null, outcome: read ? probability(said[1]) : null, perfect: null },
        usage: { prompt_tokens: 900, cached_tokens: 700, completion_tokens: 1 + Math.floor(-Math.log(1 - random()) * tokens) },
        ...(read ? {} : { raw: { completion: `${evil()}I think it is fine.` } }),
      });
    }
  }
  for (const [name, rows] of Object.entries(lines)) {
    writeFileSync(join(folder, `${name}.jsonl`), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  }
};
