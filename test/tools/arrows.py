#!/usr/bin/env python3
"""Checks that includes between the folders run one way (docs/index.md draws the arrows).

Every `#include "facet/A/..."` in a file of area B must be listed in KNOWS[B].
The table is the rule: a new arrow is a change of the design, made here first.
"""

import pathlib
import re
import sys

# Area -> areas it may know beside itself. Areas are the folders of include/facet
# and lib; the runtime and the emitted interface are C for the user's program and
# know nobody.
KNOWS = {
    "Support": set(),
    "Machine": {"Support"},
    "Isa": {"Support", "Machine"},
    "Sim": {"Support", "Machine", "Isa"},
    "Runtime": set(),
    "Blas": set(),  # uses kernels as any program does
    "Dialect": {"Support", "Machine", "Isa"},
    "Frontend": {"Support", "Dialect"},
    "Generate": {"Support", "Frontend"},
    "Import": {"Support", "Frontend"},
    "Planner": {"Support", "Dialect", "Machine", "Isa"},
    "Conversion": {"Support", "Dialect", "Machine", "Isa", "Planner"},
    "Target": {"Support", "Dialect", "Machine", "Isa"},
    "Pipelines": {"Support", "Dialect", "Machine", "Isa", "Planner", "Conversion", "Target"},
}
# The driver gathers everything below it; nothing but tools, C API and Python know it.
KNOWS["Driver"] = set(KNOWS)
KNOWS["CAPI"] = {"Support", "Target", "Driver"}

INCLUDE = re.compile(r'^\s*#\s*include\s*"facet/([A-Za-z]+)/[^"]*"')


def violations(root):
    for base in ("include/facet", "lib"):
        for path in sorted((root / base).rglob("*")):
            if path.suffix not in {".h", ".cpp", ".c", ".def", ".td"}:
                continue
            area = path.relative_to(root / base).parts[0]
            name = path.relative_to(root)
            if area not in KNOWS:
                if path.parent != root / base:  # facet/abi.h, say, belongs to no area
                    yield f"{name}: area '{area}' is not in the table of arrows.py"
                continue
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                include = INCLUDE.match(line)
                if include and include[1] != area and include[1] not in KNOWS[area]:
                    yield f"{name}:{number}: {area} includes {include[1]}; it may know {allowed(area)}"


def allowed(area):
    return ", ".join(sorted(KNOWS[area])) or "nobody"


if __name__ == "__main__":
    found = list(violations(pathlib.Path(sys.argv[1])))
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)
