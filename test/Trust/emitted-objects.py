# RUN: env PYTHONPATH=%source/python:%S/Inputs %python %s %facet
"""freed-wrong, shared-state, needs-our-world: objects ask for memcpy and memset at most (no
allocation, no library, no thread), have a stack that cannot be executed, no code that can
be written and no data that can but the word that remembers what the CPU has; shared
libraries bind everything at load."""

import json
import pathlib
import subprocess
import sys

from roads import LEVELS, Kernels, facet

k = Kernels("", cpu=False)
examples = pathlib.Path(__file__).resolve().parents[2] / "examples"
WRITE, ALLOC, EXECUTE = 1, 2, 4


def look(*options):
    done = subprocess.run(["llvm-readobj", "--elf-output-style=JSON", *map(str, options)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)[0]


def object_is_safe(path):
    found = look("--sections", "--symbols", path)
    undefined = {s["Symbol"]["Name"]["Name"] for s in found["Symbols"] if s["Symbol"]["Section"]["Name"] == "Undefined"} - {""}
    assert undefined <= {"memcpy", "memset"}, undefined
    names = set()
    for section in (s["Section"] for s in found["Sections"]):
        name, flags = section["Name"]["Name"], section["Flags"]["Value"]
        names.add(name)
        assert not flags & EXECUTE or not flags & WRITE, name
        assert name != ".note.GNU-stack" or not flags & EXECUTE
        if flags & WRITE and flags & ALLOC and section["Size"]:
            # .data.rel.ro is closed when it has been relocated. One word: what the CPU has.
            assert name.startswith(".data.rel.ro") or (name == ".bss" and section["Size"] <= 8), name
    assert ".note.GNU-stack" in names, names


everything = sorted(examples.glob("[gqt]*/*.facet"))
facet("compile", *everything, "--target=reference", "-o", k.path / "all.o", "-w")
object_is_safe(k.path / "all.o")
linear = examples / "gemm" / "linear.facet"
facet("compile", linear, "--target=" + ",".join(LEVELS.values()), "-o", k.path / "linear.o", "-w")
object_is_safe(k.path / "linear.o")
facet("compile", linear, "--target=reference", "--triple=aarch64-linux-gnu", "-o", k.path / "arm.o", "-w")
object_is_safe(k.path / "arm.o")

facet("compile", linear, "--target=reference", "-o", k.path / "linear.so", "-w")
found = look("--program-headers", "--dynamic-table", k.path / "linear.so")
headers = [h["ProgramHeader"] for h in found["ProgramHeaders"]]
assert not [h for h in headers if h["Flags"]["Value"] & 3 == 3], "a segment that can be written and run"
kinds = {h["Type"]["Name"] for h in headers}
assert "PT_GNU_STACK" in kinds and "PT_GNU_RELRO" in kinds, kinds
tags = {entry["Type"] for entry in found["DynamicSection"]}
assert "NEEDED" not in tags and "TEXTREL" not in tags, tags
