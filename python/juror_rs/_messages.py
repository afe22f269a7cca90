"""What is asked and what is answered, in the messages of chat models.

The same reading as of files: a question is the system text and the last turn of the user, a response the last turn of the
assistant. Earlier turns and thinking that a server set apart are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

__all__ = ["question", "response"]


def question(prompt: object) -> str | None:
    """The question in a text or in messages; None where there is none, or where it holds more than text.

    >>> question([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "How many?"}])
    'Be brief.\\n\\nHow many?'
    """
    if prompt is None or isinstance(prompt, str):
        return prompt
    system: list[str] = []
    asked: list[str] = []
    for message in _messages(prompt):
        role = message.get("role")
        text = _text(message.get("content"))
        if role not in ("system", "developer", "user"):
            continue
        if text is None:
            return None
        if role == "user":
            asked = [*system, text]
        elif text.strip():
            system.append(text)
    return "\n\n".join(asked) if asked else None


def response(completion: object) -> str:
    """The response in a text or in messages: empty where the assistant said nothing.

    >>> response([{"role": "assistant", "content": "17"}])
    '17'
    """
    if isinstance(completion, str):
        return completion
    said = [message for message in _messages(completion) if message.get("role") == "assistant"]
    return (_text(said[-1].get("content")) or "") if said else ""


def _messages(messages: object) -> Iterable[Mapping[str, Any]]:
    if messages is None:
        return []
    if isinstance(messages, Mapping):
        return [cast("Mapping[str, Any]", messages)]
    return [_message(message) for message in cast("Iterable[Any]", messages)]


def _message(message: Any) -> Mapping[str, Any]:
    """A message as a mapping, also of a pydantic model."""
    return cast("Mapping[str, Any]", message if isinstance(message, Mapping) else message.model_dump())


def _text(content: object) -> str | None:
    if content is None or isinstance(content, str):
        return content
    texts: list[str] = []
    for part in cast("Iterable[Mapping[str, Any]]", content):
        text = part.get("text")
        if not isinstance(text, str):
            return None
        texts.append(text)
    return "".join(texts)
