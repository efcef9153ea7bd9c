"""how long facet compile takes, and how large its code is

  ./dev bench compile

CPU time of the whole process, the median of several runs: one kernel with fixed sizes for one level and for the
default ladder, and all examples at once.
"""

import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("FACET_SOURCE", pathlib.Path(__file__).resolve().parent.parent))
BUILD = pathlib.Path(os.environ.get("FACET_BUILD", SOURCE / "build" / "release"))
FACET = BUILD / "bin" / "facet"

PRODUCT = """kernel product(a: f32[512, 512], b: const f32[512, 512]) -> c: f32[512, 512] {
  c[m, n] = sum[k](a[m, k] * b[k, n])
}
"""
LINEAR = """kernel linear(x: bf16[M, 4096], w: const bf16[4096, 4096], b: f32[4096]) -> y: bf16[M, 4096] {
  y[m, n] = gelu(sum[k](x[m, k] * w[k, n]) + b[n])
}
"""


def cpu_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


def code_bytes(path):
    """Of the sections that are loaded."""
    text = subprocess.run(["/usr/lib/llvm-22/bin/llvm-size", path], check=True, capture_output=True, text=True).stdout
    return int(text.splitlines()[1].split()[0])


def main():
    if not (BUILD / "build.ninja").exists():
        sys.exit(f"no build in {BUILD}")
    subprocess.run(["cmake", "--build", BUILD, "--target", "facet"], check=True, stdout=sys.stderr)
    print("| kernel | target | CPU time, median of 9 | code |\n| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("f32 matmul, 512³", PRODUCT), ("bf16 linear with GELU, any M", LINEAR)):
            source, output = pathlib.Path(folder, "k.facet"), pathlib.Path(folder, "k.o")
            source.write_text(text)
            for target in ("reference", "x86-64-v3", "x86-64-v4", "x86-64-v2,x86-64-v3,x86-64-v4"):
                times = [cpu_seconds([FACET, "compile", source, f"--target={target}", "-o", output]) for _ in range(9)]
                print(f"| {name} | {target.replace(',', ', ')} | {statistics.median(times) * 1e3:.0f} ms "
                      f"| {code_bytes(output) / 1024:.1f} KiB |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
