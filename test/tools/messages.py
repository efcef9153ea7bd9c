"""Every piece of a message in the sources is met by some test.

    messages.py SOURCES TESTS

Takes the string literals of the C++ files under SOURCES that read like text
(adjacent literals joined, as the compiler does) and looks for each of them in
the files under TESTS. Prints those that no test meets.
"""

import pathlib
import re
import sys

LITERAL = r'"(?:[^"\\\n]|\\.)*"'
# A character literal, a comment, or string literals with nothing between them.
TOKEN = re.compile(
    r"'(?:[^'\\\n]|\\.)+'|//[^\n]*|/\*.*?\*/|#include[^\n]*|(?P<text>%s(?:\s*%s)*)"
    % (LITERAL, LITERAL),
    re.DOTALL,
)


def unescape(literal):
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), literal)


def pieces(source):
    for match in TOKEN.finditer(source):
        if not match["text"]:
            continue
        text = "".join(unescape(l[1:-1]) for l in re.findall(LITERAL, match["text"]))
        # Text has two words; a separator or an operator has not.
        if " " in text and len(re.findall(r"[A-Za-z]{2,}", text)) >= 2:
            yield text


def main(sources, tests):
    emission = ("Emit", "OpEmitter", "KernelEmitter", "LetInlining")  # no messages
    met = "\n".join(
        path.read_text(encoding="utf-8")
        for path in sorted(pathlib.Path(tests).rglob("*"))
        if path.is_file() and path.suffix in (".facet", ".test", ".cpp", ".mlir")
    )
    missing, count = [], 0
    for path in sorted(pathlib.Path(sources).glob("*.cpp")):
        if path.name.startswith(emission):
            continue
        for text in pieces(path.read_text(encoding="utf-8")):
            count += 1
            if text not in met:
                missing.append(f"{path.name}: {text}")
    for line in missing:
        print("no test meets:", line)
    print(f"{count} pieces of messages, {len(missing)} met by no test")
    return bool(missing) or not count


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
