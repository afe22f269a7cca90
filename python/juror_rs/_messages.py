"""What is asked and what is answered, in the messages of chat models.

The same reading as of files: a question is the last turn of the user, with the turns before it, where there are any; the system text
is for who answers, and no part of it. A response is the last turn of the assistant, without thinking that a server set apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

__all__ = ["question", "response"]


def question(prompt: object) -> str | None:
    """The question in a text or in messages; None where there is none, or where a turn of it holds more than text.

    >>> question([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "How many?"}])
    'How many?'
    >>> turns = [("user", "2 + 2?"), ("assistant", "4"), ("user", "Twice that?")]
    >>> question([{"role": role, "content": text} for role, text in turns])
    'User: 2 + 2?\\n\\nAssistant: 4\\n\\nUser: Twice that?'
    """
    if prompt is None or isinstance(prompt, str):
        return prompt
    messages = [message for message in _messages(prompt) if message.get("role") not in ("system", "developer")]
    while messages and messages[-1].get("role") != "user":
        messages.pop()
    turns = [(str(message.get("role")), _text(message.get("content"))) for message in messages]
    if not turns or any(text is None for _, text in turns):
        return None
    if len(turns) == 1:
        return turns[0][1]
    return "\n\n".join(f"{role.capitalize()}: {text}" for role, text in turns)


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
