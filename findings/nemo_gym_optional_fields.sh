#!/usr/bin/env bash
# nemo-gym 0.7.0 (openapi-schema-validator 0.9.0; beside it jsonschema 4.26.0): an answer that fits the schema has the reward 0 if it leaves out a field that
# the schema does not require.
#
# The server `structured_outputs` gives the reward 1 for an answer that is valid under the request's schema, which is what the model is shown. One would
# expect the two to be the same. Seen: before it validates, the server makes every field of every object required and forbids all others, as OpenAI's strict
# mode wants schemas to be written, whatever the schema says: `required`, and `additionalProperties` with a type of their own. It does not look into lists, so
# objects under `anyOf` or `allOf` stay as they are. And it takes a field named `properties` for a schema, which is then invalid: every answer has 0. The
# response's `error_type` tells the three from wrong answers if one looks.
#
# Whom it hits: training on schemas that were not written for the strict mode, as most are not: the policy learns to fill in what it has no value for, and
# never has a reward for the rest.
#
# The server's own function, without network, cluster and profiler. Prints for each schema and answer whether jsonschema finds it valid, the reward, and the
# kind of error. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --no-compile pydantic==2.14.4 orjson==3.13.0 fastapi==0.165.0 itsdangerous==2.2.0 omegaconf==2.3.1 rich==15.0.0 \
  openai==2.44.0 aiohttp==3.14.5 uvicorn==0.54.0 httptools==0.9.0 requests==2.34.2
"$work/venv/bin/pip" install -q --no-compile openapi-schema-validator==0.9.0 jsonschema==4.26.0 xmltodict==1.0.4
# Says that it needs Python 3.13.14; these modules do not.
"$work/venv/bin/pip" install -q --no-compile --no-deps --ignore-requires-python nemo-gym==0.7.0
cat >"$work/try.py" <<'PYTHON'
import importlib.metadata
import json
import sys
from unittest.mock import MagicMock

for name in ("hydra", "pandas", "pandas.core", "pandas.core.groupby", "pandas.core.groupby.generic", "pydot", "ray", "scipy", "wandb", "wandb.util", "yappi"):
    sys.modules[name] = MagicMock(__version__="0")
importlib.metadata.version = lambda name, version=importlib.metadata.version: "0" if name == "ray" else version(name)

import jsonschema
from resources_servers.structured_outputs.app import SchemaType, StructuredOutputsResourcesServer

server = StructuredOutputsResourcesServer.model_construct(config=MagicMock())
NAME, AGE = {"type": "string"}, {"type": "integer"}


def an_object(fields, *required, **rest):
    return {"type": "object", "properties": fields, "required": list(required), **rest}


PERSON = an_object({"name": NAME, "age": AGE}, "name")
# Schema, answer, whether it fits, the reward, the kind of error.
CASES = [
    (PERSON, {"name": "Ann", "age": 3}, True, 1.0, None),
    (PERSON, {"name": "Ann", "age": "3"}, False, 0.0, "validation_error"),
    (PERSON, {"name": "Ann"}, True, 0.0, "validation_error"),
    (PERSON, {"name": "Ann", "age": 3, "city": "Bonn"}, True, 0.0, "validation_error"),
    (an_object({"name": NAME}, "name", additionalProperties=AGE), {"name": "Ann", "exams": 2}, True, 0.0, "validation_error"),
    (an_object({"who": PERSON}, "who"), {"who": {"name": "Ann"}}, True, 0.0, "validation_error"),
    (an_object({"who": {"anyOf": [PERSON, NAME]}}, "who"), {"who": {"name": "Ann"}}, True, 1.0, None),
    (an_object({"kind": NAME, "properties": NAME}, "kind", "properties"), {"kind": "acid", "properties": "sour"}, True, 0.0, "validation_error"),
]

changed = False
for schema, answer, *expected in CASES:
    fits = jsonschema.Draft202012Validator(schema).is_valid(answer)
    reward, error, _ = server.evaluate_structured_output_response(SchemaType.JSON, json.dumps(schema), json.dumps(answer))
    print(f"fits {fits!s:5} reward {reward} {error!s:16} {json.dumps(answer)}")
    changed |= [fits, reward, error] != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
