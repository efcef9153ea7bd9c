"""what a size beside a round one costs on this CPU

  ./dev bench cliff
  ./dev bench cliff --threads 2 --sizes 64,256 --gate 1.5

Products of n, n - 1 and n + 1 on each axis, in one run of facet bench and ROUNDS times over: the time of an operation
beside that of the whole size, the best of all rounds. On matrix engines test/Trust/cliff.py bounds it.
"""

import argparse
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("FACET_SOURCE", pathlib.Path(__file__).resolve().parent.parent))
BUILD = pathlib.Path(os.environ.get("FACET_BUILD", SOURCE / "build" / "release"))
FACET = BUILD / "bin" / "facet"
KERNELS = {
    "f32": "kernel f(a: f32[M, K], b: f32[K, N]) -> c: f32[M, N] { c[m, n] = sum[k](a[m, k] * b[k, n]) }",
    "bf16": "kernel f(a: bf16[M, K], b: bf16[K, N]) -> c: f32[M, N] { c[m, n] = sum[k](a[m, k] * b[k, n]) }",
    "i8": "kernel f(a: u8[M, K], b: i8[K, N]) -> c: i32[M, N] { c[m, n] = sum[k](i32(a[m, k]) * i32(b[k, n])) }",
}


def measure(kernel, n, threads):
    """Seconds per operation by sizes: all neighbours of n, in one object."""
    values = ",".join(str(size) for size in (n - 1, n, n + 1))
    answer = subprocess.run(
        [FACET, "bench", "-q", "-w", kernel, "--json", "--repeat=20", f"--threads={threads}",
         *(f"-D{axis}={values}" for axis in "MKN")], check=True, capture_output=True, text=True).stdout
    return {tuple(row["sizes"][axis] for axis in "MKN"): row["best_seconds"] / row["flops"]
            for row in json.loads(answer)}


def main():
    parser = argparse.ArgumentParser(prog="./dev bench cliff", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="32,64,128,256,512")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--gate", type=float, help="exit 4 when a neighbour takes this many times as long")
    options = parser.parse_args()
    subprocess.run(["cmake", "--build", BUILD, "--target", "facet"], check=True, stdout=subprocess.DEVNULL)
    worst = 0
    print("| type | n | worst neighbour | times as long | one less on each | one more on each |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for (name, text), n in itertools.product(KERNELS.items(), map(int, options.sizes.split(","))):
            kernel = pathlib.Path(folder) / f"{name}.facet"
            kernel.write_text(text + "\n")
            best = {}
            for _ in range(options.rounds):
                for sizes, cost in measure(kernel, n, options.threads).items():
                    best[sizes] = min(cost, best.get(sizes, cost))
            ratios = {sizes: cost / best[n, n, n] for sizes, cost in best.items()}
            slowest = max(ratios, key=ratios.get)
            worst = max(worst, ratios[slowest])
            print(f"| {name} | {n} | {'×'.join(map(str, slowest))} | {ratios[slowest]:.2f} "
                  f"| {ratios[n - 1, n - 1, n - 1]:.2f} | {ratios[n + 1, n + 1, n + 1]:.2f} |", flush=True)
    return 4 if options.gate and worst > options.gate else 0


if __name__ == "__main__":
    sys.exit(main())
