#!/usr/bin/env python3
"""Checks that relative links of the Markdown pages lead somewhere."""

import pathlib
import re
import sys
import urllib.parse

LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")


def without_code(text):
    """The text with fenced blocks and code spans blanked."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    return re.sub(r"`[^`\n]*`", "", text)


def broken_links(root):
    for page in sorted(root.rglob("*.md")):
        if "build" in page.relative_to(root).parts[:1]:
            continue
        for target in LINK.findall(without_code(page.read_text(encoding="utf-8"))):
            path = urllib.parse.unquote(target.split("#")[0])
            if path and "://" not in target and not target.startswith("mailto:"):
                if not (page.parent / path).exists():
                    yield f"{page.relative_to(root)}: link to '{path}' leads nowhere"


if __name__ == "__main__":
    found = list(broken_links(pathlib.Path(sys.argv[1])))
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)
