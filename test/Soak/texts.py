"""Feeds our own texts, a few words changed, to every reader: an answer or an error, never a crash or a hang.

    ./dev soak texts [COUNT [SEED]]

COUNT of each kind: kernels, kernels as IR, functions on tensors, machine files, assembler text. Words are changed for
words of their kind, so that most texts get past the first line. What ends badly is kept below build/texts.
"""

import os
import pathlib
import random
import re
import subprocess
import sys

SOURCE, BUILD = pathlib.Path(os.environ["FACET_SOURCE"]), pathlib.Path(os.environ["FACET_BUILD"])
FACET, SIM = BUILD / "bin" / "facet", BUILD / "bin" / "facet-sim"
TOKEN = re.compile(r"""\s+|tensor<[^>]*>|[%#@!][\w.]+|"[^"]*"|[A-Za-z_][\w.]*|-?\d+(?:\.\d+)?|.""", re.S)
NUMBERS = "0 -1 1 2 3 7 65536 2147483648 4294967296 9223372036854775807 -9223372036854775808".split()
KINDS = {  # suffix, where the texts are, what stands between texts of one file, the command
    "kernels": (".facet", ["examples/**/*.facet", "test/Frontend/*.facet"], None,
                [FACET, "compile", "--emit=kernel", "-o", "-", "-w"]),
    "ir": (".mlir", ["test/Dialect/**/*.mlir"], "// -----", [FACET, "compile", "--emit=kernel", "-o", "-", "-w"]),
    "tensors": (".mlir", ["test/Import/*.test"], r"//---.*\n", [FACET, "import"]),
    "machines": (".yaml", ["machines/*.yaml"], None, [FACET, "targets"]),
    "programs": (".s", ["test/Isa/*.s", "test/Sim/Inputs/programs/*.s"], None, [SIM, "as", "-o", "-"]),
}


def kind_of(token):
    if token.startswith("tensor<"):
        return "T"
    if token[0] in '%#@!"':
        return token[0]
    return "w" if token[0].isalpha() else "n" if token[-1].isdigit() else None


def texts_of(patterns, between):
    for pattern in patterns:
        for path in sorted(SOURCE.glob(pattern)):
            text = path.read_text(errors="replace")
            for part in re.split(between, text) if between else [text]:
                if 20 < len(part) < 8000:
                    yield [token for token in TOKEN.findall(part)]


def mutate(rng, tokens, pool):
    tokens = list(tokens)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        places = [i for i, token in enumerate(tokens) if kind_of(token)]
        if not places:
            break
        at = rng.choice(places)
        old, kind = tokens[at], kind_of(tokens[at])
        new = rng.choice([t for t in tokens if kind_of(t) == kind] if rng.random() < 0.5 and kind != "n" else pool[kind])
        if kind == "T" and rng.random() < 0.6:  # everywhere alike, so that types still match
            tokens = [new if token == old else token for token in tokens]
        else:
            tokens[at] = new
        if rng.random() < 0.05:
            del tokens[at:at + rng.randint(1, 6)]
    return "".join(tokens)


def main():
    count, seed = (int(word) for word in (sys.argv[1:] + ["500", "1"][len(sys.argv) - 1:])[:2])
    folder = BUILD / "texts"
    folder.mkdir(exist_ok=True)
    bad = 0
    for name, (suffix, patterns, between, command) in KINDS.items():
        rng = random.Random(f"{seed} {name}")
        texts = list(texts_of(patterns, between))
        pool = {}
        for tokens in texts:
            for token in tokens:
                if kind := kind_of(token):
                    pool.setdefault(kind, set()).add(token)
        pool = {kind: sorted(words) for kind, words in pool.items()}
        pool["n"] = pool.get("n", []) + NUMBERS
        codes = {}
        for i in range(count):
            path = folder / f"{name}-{seed}-{i}{suffix}"
            text = mutate(rng, rng.choice(texts), pool)
            if "array<index" in text or "import" in text:
                continue  # ends libMLIR 22.1's parser of attributes; reads other files
            path.write_text(text)
            try:
                code = subprocess.run([*command, path], capture_output=True, timeout=60, check=False).returncode
            except subprocess.TimeoutExpired:
                code = "hang"
            codes[code] = codes.get(code, 0) + 1
            if code in (0, 1, 2, 5):
                path.unlink()
            else:
                bad += 1
                print(f"{path}: {code}", flush=True)
        print(f"{name}: {count} texts, exit codes {dict(sorted(codes.items(), key=str))}", flush=True)
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
