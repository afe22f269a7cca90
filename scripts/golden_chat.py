#!/usr/bin/env python3
"""Goldens of chat templates and tokenizers: what transformers makes of them.

    pip install 'transformers>=5' 'jinja2>=3.1.6'
    python scripts/golden_chat.py
    python scripts/golden_chat.py TEMPLATES OUT

The second way makes goldens of all *.jinja in the folder TEMPLATES (for one llama.cpp's models/templates) in the folder OUT; then
`JUROR_CHAT_GOLDENS=OUT cargo test --test text chat_templates` compares with those too.

Renders the templates of scripts/chat_templates (written for this purpose, of the constructs that published ones are made
of) for many conversations with transformers' own function, into tests/data/chat/*.json; trains small tokenizers of every
kind, into tests/data/chat/tokenizers/, with the ids that transformers gives whole prompts. The date is fixed, and the same
versions give the same files, but for the Unigram vocabulary, whose trainer does not repeat itself. Last made with transformers 5.23.0, jinja2 3.1.6, tokenizers 0.23.3.
"""

import datetime
import json
import pathlib
import sys

import jinja2
import transformers.utils.chat_template_utils as chat
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "tests" / "data" / "chat"
NOW = datetime.datetime(2026, 3, 5, 14, 7, 9)
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}

WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Tells the weather <now> & \"later\".",
        "parameters": {
            "type": "object",
            "properties": {
                "place": {"type": "string", "description": "Where, in füll"},
                "unit": {"type": "string", "enum": ["C", "F"], "default": "C"},
                "days": {"type": "array", "items": {"type": "number"}},
                "notes": {"type": "array", "items": {"type": "object", "properties": {"x": {"type": "integer"}, "y": {"type": "string", "nullable": True}}, "required": ["x"]}},
                "either": {"oneOf": [{"type": "string", "default": "a"}, {"type": "number"}]},
                "several": {"type": ["string", "null"]},
                "any": {},
            },
            "required": ["place"],
        },
    },
}
CLOCK = {"type": "function", "function": {"name": "clock", "description": "Tells the time.", "parameters": {"type": "object", "properties": {}}}}


def call(name, arguments, **more):
    return {"type": "function", "function": {"name": name, "arguments": arguments}, **more}


USER = {"role": "user", "content": " What is 2 + 2?\n"}
SYSTEM = {"role": "system", "content": "Be kind.\n"}
CONVERSATIONS = {
    "one question": [USER],
    "a system message": [SYSTEM, USER],
    "two turns": [USER, {"role": "assistant", "content": " 4 "}, {"role": "user", "content": "And <b>3 + 3</b>? é 漢 \u2028 🙂"}],
    "an answer last": [SYSTEM, USER, {"role": "assistant", "content": "<think>\nHm.\n</think>\n\n4"}],
    "thoughts apart": [USER, {"role": "assistant", "content": "4", "reasoning_content": "\nHm.\n", "thinking": "Hm."}],
    "a call": [
        SYSTEM,
        USER,
        {"role": "assistant", "content": None, "tool_calls": [call("weather", {"place": "Köln", "days": [1, 2.5], "unit": None, "deep": {"a": True}}, id="abcdefghi")]},
        {"role": "tool", "content": '{"sky": "clear"}', "tool_call_id": "abcdefghi"},
        {"role": "assistant", "content": "It is clear."},
    ],
    "two calls": [
        USER,
        {"role": "assistant", "content": "Let me see.", "tool_calls": [call("clock", {}, id="123456789"), call("weather", {"place": "a\"b\\c"}, id="987654321")]},
        {"role": "tool", "content": "12:00", "name": "clock"},
        {"role": "tool", "content": "rain", "name": "weather"},
    ],
    "content in parts": [{"role": "user", "content": [{"type": "text", "text": "One"}, {"type": "text", "text": "Two"}]}],
    "users out of turn": [USER, USER],
    "an unknown role": [{"role": "observer", "content": "x"}],
}
OPTIONS = [
    {},
    {"enable_thinking": False},
    {"enable_thinking": True},
    {"reasoning_effort": "high"},
    {"tools": [WEATHER, CLOCK]},
    {"tools": [WEATHER], "tools_in_user_message": False, "builtin_tools": ["weather", "python", "interpreter", "browser"]},
    {"add_generation_prompt": False},
    {"date_string": "1 Jan 2020", "model_identity": "I am."},
]


class FixedDate(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return NOW


def render(template, messages, options):
    options = {"add_generation_prompt": True, **options}
    variables = {"messages": messages, **TOKENS, **options}
    try:
        rendered, _ = chat.render_jinja_template(
            [messages],
            tools=options.get("tools"),
            chat_template=template,
            **TOKENS,
            **{key: value for key, value in options.items() if key != "tools"},
        )
        return {"variables": variables, "rendered": rendered[0]}
    except jinja2.exceptions.TemplateError as error:
        return {"variables": variables, "error": str(error)}
    except RecursionError:
        # What Python cannot follow to its end is no text; the message would be about Python's stack.
        return {"variables": variables, "error": "nested too deeply"}
    except (TypeError, AttributeError, ValueError) as error:
        return {"variables": variables, "error": str(error)}


def templates(folder=ROOT / "scripts" / "chat_templates", out=OUT):
    chat.datetime = FixedDate
    # Transformers fills in other names of a message's thoughts; a template is given what is written here.
    chat._alias_reasoning_fields = lambda messages: messages
    for path in sorted(pathlib.Path(folder).glob("*.jinja")):
        template = path.read_text(encoding="utf-8")
        cases = []
        for name, messages in CONVERSATIONS.items():
            for options in OPTIONS:
                if path.stem == "expressions" and (name != "one question" or options):
                    continue
                case = render(template, messages, options)
                # An option that a template does not read makes no new case.
                if options and any(case.get("rendered") == other.get("rendered") and case["variables"]["messages"] == other["variables"]["messages"] for other in cases):
                    continue
                cases.append({"name": name, **case})
        document = {"now": NOW.isoformat(), "template": template, "cases": cases}
        write(pathlib.Path(out) / f"{path.stem}.json", document)
        print(path.stem, len(cases), "cases,", sum("error" in case for case in cases), "refused")


CORPUS = """Tom has seven apples and buys nine more of them.
How many apples has he now, and how many were there before?
He has 7 + 9 = 16 apples. The answer is 16.
Grade the derivation and the result apart from each other.
True or False: process, outcome and perfect. True. False.
Ein Zug fährt in zwei Stunden 180 km; wie schnell ist er?
the question, the student's answer and the reference answer""".split("\n")
SPECIAL = ["<unk>", "<s>", "</s>", "<|user|>", "<|end|>", "[INST]", "[/INST]"]
SPLIT = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def special(tokenizer, **how):
    tokenizer.add_special_tokens([AddedToken(token, normalized=False, special=True, **how) for token in SPECIAL])
    tokenizer.add_tokens([AddedToken("<think>", normalized=False, special=False), AddedToken("</think>", normalized=False, special=False)])


def trained(normalizer, pre_tokenizer, decoder, byte_level):
    tokenizer = Tokenizer(models.BPE(unk_token=None if byte_level else "<unk>", byte_fallback=not byte_level, fuse_unk=not byte_level))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoder
    alphabet = pre_tokenizers.ByteLevel.alphabet() if byte_level else []
    own = [] if byte_level else SPECIAL[:3] + BYTES
    trainer = trainers.BpeTrainer(vocab_size=520, special_tokens=own, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(CORPUS, trainer)
    if not byte_level:
        # The bytes belong to the vocabulary alone.
        document = json.loads(tokenizer.to_str())
        document["added_tokens"] = [token for token in document["added_tokens"] if token["content"] not in BYTES]
        tokenizer = Tokenizer.from_str(json.dumps(document))
    special(tokenizer)
    return tokenizer


def unigram(scheme):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Replace(Regex(" {2,}"), "▁")
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=True)
    tokenizer.decoder = decoders.Metaspace(prepend_scheme=scheme)
    trainer = trainers.UnigramTrainer(vocab_size=160, special_tokens=SPECIAL, initial_alphabet=["\n"], unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator(CORPUS, trainer)
    special(tokenizer)
    return tokenizer


def kinds():
    pieces = lambda: decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    split = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(SPLIT), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    legacy = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    yield "byte_level", trained(None, split, decoders.ByteLevel(), True)
    yield "byte_level_prefix", trained(None, pre_tokenizers.ByteLevel(add_prefix_space=True), decoders.ByteLevel(), True)
    yield "prepend", trained(legacy, None, pieces(), False)
    yield "metaspace_first", trained(None, pre_tokenizers.Metaspace(prepend_scheme="first", split=False), pieces(), False)
    yield "metaspace_always", trained(None, pre_tokenizers.Metaspace(prepend_scheme="always", split=True), pieces(), False)
    yield "replace", trained(normalizers.Replace(" ", "▁"), pre_tokenizers.Split(" ", "merged_with_previous"), decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]), False)
    yield "unigram", unigram("always")


# A field begins and ends at a line's ends, or behind an added token, so that no token reaches over its edges.
PROMPTS = [
    [("template", "<s><|user|>\nGrade the answer.\n"), ("field", "Tom has 7 apples\nand buys  9 more"), ("template", "\n\nthe answer: \n"), ("field", " 16. é漢🙂"), ("template", "\n<|end|>the end")],
    [("template", "[INST]"), ("field", "Tom has seven"), ("template", "\n[/INST] True"), ],
    [("field", "How many\n"), ("template", "\nHe has 16 apples<|end|><|user|> now")],
    [("template", "Tom\n"), ("field", "the\n"), ("field", "the"), ("template", "\n<think>\n</think> True")],
]


def tokenizers():
    messages = [{"role": "user", "content": "QUESTION"}]
    for name, tokenizer in kinds():
        # A post-processor would add a beginning; a chat is tokenised without it.
        tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A $B", special_tokens=[("<s>", tokenizer.token_to_id("<s>"))])
        fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", unk_token="<unk>")
        fast.chat_template = "{{ messages[0].content }}"
        cases = []
        for stretches in PROMPTS:
            text = "".join(text for _, text in stretches)
            messages[0]["content"] = text
            ids = fast.apply_chat_template(messages, tokenize=True, return_dict=False)
            cases.append({"stretches": [list(stretch) for stretch in stretches], "ids": ids, "decoded": fast.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)})
        document = json.loads(tokenizer.to_str())
        write(OUT / "tokenizers" / f"{name}.json", {"cases": cases, "tokenizer": document})
        print(name, tokenizer.get_vocab_size())


def write(path, document):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        templates(*sys.argv[1:])
    else:
        templates()
        tokenizers()
