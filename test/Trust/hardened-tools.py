# RUN: %python %s %facet %facet-sim %facet-opt %facet-lsp-server
"""The tools read files of strangers: position independent, closed after relocation, no
memory that can be written and executed, stacks and containers checked. And the build asks
no network for anything."""

import json
import pathlib
import re
import subprocess
import sys

for tool in sys.argv[1:]:
    text = subprocess.run(["llvm-readobj", "--elf-output-style=JSON", "--file-header", "--program-headers", "--dynamic-table", tool],
                          capture_output=True, text=True, check=True).stdout
    found = json.loads(text)[0]
    assert "SharedObject" in str(found["ElfHeader"]["Type"]), tool
    headers = {h["ProgramHeader"]["Type"]["Name"]: h["ProgramHeader"]["Flags"]["Value"] for h in found["ProgramHeaders"]}
    assert not [h for h in found["ProgramHeaders"] if h["ProgramHeader"]["Flags"]["Value"] & 3 == 3], tool
    assert "PT_GNU_RELRO" in headers and not headers["PT_GNU_STACK"] & 1, (tool, headers)
    flags = [entry for entry in found["DynamicSection"] if entry["Type"] in ("FLAGS", "FLAGS_1", "BIND_NOW")]
    assert "NOW" in str(flags), (tool, flags)

    # What a write past the end of an array on the stack or of a container ends in; sanitizers have their own.
    undefined = subprocess.run(["llvm-nm", "-D", "--undefined-only", tool], capture_output=True, text=True, check=True).stdout
    assert "__asan_init" in undefined or ("__stack_chk_fail" in undefined and "__glibcxx_assert_fail" in undefined), tool

root = pathlib.Path(__file__).resolve().parents[2]
files = [root / "CMakeLists.txt", *root.glob("cmake/**/*"), *(f for d in ("include", "lib", "tools", "test", "bench", "docs", "python") for f in root.glob(d + "/**/CMakeLists.txt"))]
for file in files:
    if file.is_file():
        call = re.search(r"(?i)FetchContent|ExternalProject|file\s*\(\s*DOWNLOAD|CPMAddPackage|git clone|\bcurl\b|\bwget\b", file.read_text())
        assert not call, f"{file}: {call and call[0]}"
