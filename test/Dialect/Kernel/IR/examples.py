# RUN: %python %s %include/facet/Dialect/Kernel/IR %include/facet/Dialect/Kernel/Transforms > %t.mlir
# RUN: %facet-opt %t.mlir --split-input-file --verify-roundtrip -o /dev/null
"""Prints every ```mlir example of the .td files, and fails when an op stands in none."""

import pathlib
import re
import sys
import textwrap

examples, ops = [], set()
for folder in sys.argv[1:]:
    for path in sorted(pathlib.Path(folder).glob("*.td")):
        text = path.read_text(encoding="utf-8")
        examples += [textwrap.dedent(block) for block in re.findall(r"```mlir\n(.*?)```", text, re.S)]
        ops |= set(re.findall(r'^def \w+Op\s*:\s*Kernel_\w*Op<"(\w+)"', text, re.M))

shown = set(re.findall(r"\bkernel\.(\w+)", "\n".join(examples)))
missing = sorted(ops - shown)
if not ops or missing:
    sys.exit(f"ops without an example: {', '.join(missing) or 'all, none were found'}")
print("\n// -----\n\n".join(examples))
