"""engine.py FACET EXAMPLES THEME [REFUSED ...]: every kernel of a theme on trn2 against the judge.

Sizes are those that `check` tries by itself (0, 1, primes, 16, 64), then for each kernel one around a tile of the machine: 127,
128, 129 rows, 511 to 513 columns in turn. Kernels named REFUSED must be refused with a way out; all others must agree.
"""

import pathlib
import re
import subprocess
import sys

facet, examples, theme, *refused = sys.argv[1:]
# Per kernel, sizes around tiles that are quick to judge.
EDGES = {
    "gemm": "M=127 K=129 N=513", "gemm_tt_out_t": "M=513 K=128 N=129", "bmm_shared": "P=2 M=129 K=127 N=511",
    "linear": "M=129 K=257 N=512", "bilinear": "B=3 I=5 J=129 O=7", "rbf": "M=128 N=513 D=129", "bias_zoo": "M=129 K=128 N=511",
    "syrk_lower": "N=129 K=127", "zgemm_planar": "M=127 K=129 N=65", "zgemm": "M=33 K=129 N=65",
    "attention": "B=1 S=17 T=129 G=1 R=2 D=16", "attention_gemma": "B=2 S=17 T=129 G=1 R=2 D=16",
    "paged_decode": "B=2 G=1 R=2 NP=3 P=43 U=3 D=16", "attention_packed": "S=129 H=2 D=16", "attention_bwd": "S=129 T=129 D=32",
    "swiglu": "M=129 K=128 F=127 N=65", "rms_qkv_rope": "B=1 S=129 K=64 H=2 E=8 G=1 D=16", "layernorm": "M=129 N=513",
    "lora": "M=129 K=127 N=65 R=8", "multi_lora": "M=129 K=65 L=3 R=4 N=33", "moe_up": "T=129 K=33 E=2 F=17",
    "moe_combine": "R=129 T=127 A=2 N=65", "linear_bwd": "M=129 K=65 N=127", "gelu_bwd": "M=129 K=128 N=65",
    "patch_embed": "B=1 C=1 P=3 Q=3 O=129", "cross_entropy": "M=129 K=65 V=513", "qlinear": "M=129 K=128 N=65",
    "w4a16": "M=129 Q=1 N=66", "nf4": "M=33 Q=2 N=34", "w8a8_dynamic": "M=129 K=129 N=65", "greedy": "M=129 K=64 V=513",
    "nearest": "M=129 N=513 D=16", "cumsum": "M=129 N=65", "ssd_chunk": "S=129 D=16 P=33",
}


def check(path, *sizes):
    command = [facet, "check", "-q", str(path), "--target=trn2", "--sample=200", *(f"-D{s}" for s in sizes)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    return run.returncode, run.stdout + run.stderr


kernels, bad = 0, 0
for path in sorted(pathlib.Path(examples, theme).glob("*.facet")):
    kernels += 1
    code, said = check(path)
    if path.stem in refused:
        good = code == 1 and re.search(r"error: .*(compile for|make them)", said) and "SIM-" not in said
    else:
        good = code == 0
        if good and path.stem in EDGES:
            code, said = check(path, *EDGES[path.stem].split())
            good = code == 0
    if not good:
        bad += 1
        print(f"{path.name}: exit code {code}\n{said}")
print(f"{kernels} kernels, {len(refused)} refused, {bad} complaints")
sys.exit(bad != 0)
