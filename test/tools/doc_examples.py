"""The ```facet blocks of a page are what the page says of them.

    doc_examples.py TOOL PAGE...

A plain block is accepted without a message and is its own formatting. A block
marked `rejected` is refused with exactly the messages that its `// error:`
comments show, each above the line it is about.
"""

import json
import os
import re
import subprocess
import sys
import tempfile


def run(tool, *arguments):
    return subprocess.run([tool, *arguments], capture_output=True, text=True, encoding="utf-8")


def check(tool, text, rejected, path):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    messages = json.loads(run(tool, "--quiet", "--messages=json", path).stderr)
    given = [(m["line"], m["message"]) for m in messages]
    expected = [
        (number + 1, line.split("error: ", 1)[1])
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip().startswith("// error: ")
    ]
    if given != expected:
        return f"expected {expected}, given {given}"
    if rejected != bool(given):
        return "a block marked rejected shows its errors, others have none"
    if not rejected and run(tool, "--format", path).stdout != text:
        return "the block is not canonical:\n" + run(tool, "--format", path).stdout
    return ""


def main(tool, pages):
    count = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "block.facet")
        for page in pages:
            with open(page, encoding="utf-8") as file:
                source = file.read()
            for block in re.finditer(r"^```facet( rejected)?\n(.*?)^```$", source, re.M | re.S):
                count += 1
                problem = check(tool, block[2], bool(block[1]), path)
                if problem:
                    wrong += 1
                    line = source.count("\n", 0, block.start()) + 1
                    print(f"{page}:{line}: {problem}")
    print(f"{count} blocks, {wrong} wrong")
    return wrong or not count


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1], sys.argv[2:])))
