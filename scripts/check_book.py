"""Checks the links within the book as a browser follows them: `mdbook build`, then

    python3 scripts/check_book.py [target/book/html]

mdbook-linkcheck2 checks the Markdown; a page may still be written under another name than that in the links to it.
"""

import html
import re
import sys
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

LINK = re.compile(r'href="([^"]+)"')


@cache
def anchors(page: Path) -> frozenset[str]:
    return frozenset(re.findall(r'id="([^"]+)"', page.read_text(encoding="utf-8")))


def broken(page: Path) -> list[str]:
    found = []
    for link in map(html.unescape, LINK.findall(page.read_text(encoding="utf-8"))):
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
        wants = unquote(parts.fragment) if target.suffix == ".html" else ""
        if not target.is_file() or (wants and wants not in anchors(target)):
            found.append(f"{page}: {link}")
    return found


folder = Path(sys.argv[1] if len(sys.argv) > 1 else "target/book/html").resolve()
# The error page has absolute links, and that for printing repeats the others.
pages = [page for page in sorted(folder.rglob("*.html")) if page.name not in ("404.html", "print.html")]
wrong = [line for page in pages for line in broken(page)]
print("\n".join(wrong) or f"{len(pages)} pages, no broken link")
sys.exit(bool(wrong or not pages))
