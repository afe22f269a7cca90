"""A preprocessor of mdbook: links that leave docs/ lead to the repository's address, the others stay. See book.toml."""

import json
import posixpath
import re
import sys

LINK = re.compile(r"\]\((\.\./[^)\s#]*)")


def rewrite(content: str, path: str, repository: str) -> str:
    def target(link: re.Match[str]) -> str:
        place = posixpath.normpath(posixpath.join("docs", posixpath.dirname(path), link[1]))
        return link[0] if place == "docs" or place.startswith("docs/") else f"]({repository}/blob/main/{place}"

    return LINK.sub(target, content)


def walk(items: list, repository: str) -> None:
    for item in items:
        chapter = item.get("Chapter") if isinstance(item, dict) else None
        if chapter:
            if chapter["path"]:
                chapter["content"] = rewrite(chapter["content"], chapter["path"], repository)
            walk(chapter["sub_items"], repository)


if sys.argv[1:2] == ["supports"]:
    sys.exit(0)
context, book = json.load(sys.stdin)
walk(book.get("sections", book.get("items", [])), context["config"]["output"]["html"]["git-repository-url"])
json.dump(book, sys.stdout)
