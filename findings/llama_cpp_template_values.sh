#!/usr/bin/env bash
# llama.cpp (wheel xllamacpp 2026.10.11549; beside it jinja2 3.1.6): a chat template that writes an object, `{{ arguments }}`, writes nothing. A list is its
# elements without brackets and commas, 2.0 in a tool's schema is 2, and "é" has the length 2.
#
# llama.cpp fills the chat templates of models by a Jinja of its own. One would expect the prompt that the template was made with, in transformers,
# or an error, as there is for `7 // 2` and many filters. Seen: objects and lists without `tojson` are not written as in Python; floats that are
# whole become integers in `tojson`, in tools too; texts are bytes, so that lengths, indices and reversed texts of other letters are wrong, and
# `lower` knows a to z; `select("odd")` selects nothing and `reject("odd")` rejects nothing; `default` takes none for undefined; -7 % 3 is -1;
# `"%s"|format(x)` is the format.
#
# Whom it hits: models whose template writes a call's arguments, documents or a rubric as they are, which were trained on Python's notation and
# get nothing; comparisons of llama.cpp with transformers on the same messages; limits of lengths in a template for other scripts.
#
# Gives one random model a template for all cases. Prints each expression with jinja2's text and llama.cpp's. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q gguf==0.19.0 numpy xllamacpp==2026.10.11549 jinja2==3.1.6
cat >"$work/try.py" <<'PYTHON'
import json
import os
import sys
import urllib.request

import gguf
import jinja2
import numpy as np
import xllamacpp

VALUES = {"call": {"city": "Rome", "days": 2.0}, "grades": [1, 2.5, "A", True], "word": "déjà"}
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "number", "minimum": 0.0, "maximum": 0.5}}}
# Expression, what jinja2 writes (with the `tojson` of transformers), what llama.cpp writes.
CASES = [
    ("{{ call|tojson }}", '{"city": "Rome", "days": 2.0}', '{"city": "Rome", "days": 2}'),
    ("{{ call }}", "{'city': 'Rome', 'days': 2.0}", ""),
    ("{{ grades }}", "[1, 2.5, 'A', True]", "12.5ATrue"),
    ("{{ tools[0].function.parameters|tojson }}", '{"type": "number", "minimum": 0.0, "maximum": 0.5}', '{"type": "number", "minimum": 0, "maximum": 0.5}'),
    ("{{ word|length }}", "4", "6"),
    ("{{ word[:3] }}|{{ word[0] }}", "déj|d", "dé|d"),
    ("{{ 'DÉJÀ'.lower() }}", "déjà", "dÉjÀ"),
    ("{{ [1, 2, 3]|select('odd')|join('-') }}|{{ [1, 2, 3]|reject('odd')|join('-') }}", "1-3|2", "|1-2-3"),
    ("{{ none|default('none given') }}", "None", "none given"),
    ("{{ -7 % 3 }}", "2", "-1"),
    ("{{ '%s of %s'|format(1, 2) }}", "1 of 2", "%s of %s"),
    ("{{ call.city }}|{{ call.days }}|{{ word.split('é')|join('-') }}", "Rome|2.0|d-jà", "Rome|2.0|d-jà"),
]


def byte_names():
    """The names of the 256 bytes in vocabularies like GPT-2's."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    return [chr(byte) for byte in plain] + [chr(256 + index) for index in range(256 - len(plain))]


def build(path, template, size=32):
    tokens = [*byte_names(), "<|im_start|>", "<|im_end|>"]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(512)
    writer.add_embedding_length(size)
    writer.add_block_count(1)
    writer.add_feed_forward_length(size)
    writer.add_head_count(1)
    writer.add_head_count_kv(1)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_dimension_count(size)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types([gguf.TokenType.NORMAL] * 256 + [gguf.TokenType.CONTROL] * 2)
    writer.add_token_merges(["a b"])
    writer.add_eos_token_id(257)
    writer.add_chat_template(template)
    parts = "attn_q attn_k attn_v attn_output ffn_gate ffn_up ffn_down attn_norm ffn_norm".split()
    shapes = {f"blk.0.{part}.weight": (size,) if "norm" in part else (size, size) for part in parts}
    shapes |= {"output_norm.weight": (size,), "token_embd.weight": (len(tokens), size), "output.weight": (len(tokens), size)}
    for name, shape in shapes.items():
        writer.add_tensor(name, np.full(shape, 0.5, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


branches = "".join(f"{{% elif case == {index} %}}{expression}" for index, (expression, *_) in enumerate(CASES))
template = "{% if case is not defined %}{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}" + branches + "{% endif %}"
build("model.gguf", template)
params = xllamacpp.CommonParams()
params.model.path, params.n_ctx, params.n_parallel, params.warmup, params.use_jinja = "model.gguf", 512, 1, False, True
server = xllamacpp.Server(params)
environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)
environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)

changed = False
for index, (expression, ours, theirs) in enumerate(CASES):
    ask = {"messages": [{"role": "user", "content": "?"}], "tools": [TOOL], "chat_template_kwargs": VALUES | {"case": index}}
    request = urllib.request.Request(server.listening_address + "/apply-template", json.dumps(ask).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request) as reply:
        prompt = json.load(reply)["prompt"]
    text = environment.from_string(expression).render(**VALUES, tools=[TOOL])
    print(f"{expression:45} jinja2: {text!r:34} llama.cpp: {prompt!r}", flush=True)
    changed |= (text, prompt) != (ours, theirs)
# The server's threads would hold up an ordinary exit.
os._exit(changed)
PYTHON
cd "$work"
venv/bin/python try.py 2>log || { cat log; exit 1; }
