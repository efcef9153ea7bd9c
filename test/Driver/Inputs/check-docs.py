"""check-docs.py HELP PAGE: the page and the help text know the same options and kinds of
output."""
import re
import sys

helptext, page = (open(name, encoding="utf-8").read() for name in sys.argv[1:])
listed = {o.removesuffix("GROUP") for o in re.findall(r"^  (--?[A-Za-z][\w-]*)", helptext, re.M)}
# Aliases that users of gcc and clang type.
aliases = {"-fcolor-diagnostics", "-fdiagnostics-color"}

fence = re.compile(r"^```\w*\n(.*?)^```", re.M | re.S)
code = fence.findall(page) + re.findall(r"`([^`]+)`", fence.sub("", page))
named = {o for text in code for o in re.findall(r"(?:^|(?<=[\s|]))(--?[A-Za-z][\w-]*)", text, re.M)}
named = {o[:2] if o[:2] in ("-W", "-D") else o for o in named}

assert listed <= named, ("in --help, not in the page", sorted(listed - named))
assert named <= listed | aliases, ("in the page, not in --help", sorted(named - listed - aliases))
kinds = re.search(r"--emit=KIND .*: (.*)", helptext)[1].split()
assert all(f"| `{kind}` |" in page for kind in kinds), kinds
