"""check-groups.py LIB HELP: every group that a source reports under is in the help text."""
import pathlib
import re
import sys

lib, text = pathlib.Path(sys.argv[1]), open(sys.argv[2], encoding="utf-8").read()
used = set()
for path in lib.rglob("*.cpp"):
    used.update(re.findall(r'\.(?:warning|remark)\(\s*"([a-z-]+)"', path.read_text(encoding="utf-8")))
listed = set(re.findall(r"^  -W([a-z-]+)", text, re.M))
assert used == listed, ("used", used - listed, "listed", listed - used)
