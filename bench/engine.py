#!/usr/bin/env python3
"""How close programs for the matrix engine come to the machine's bound, and how fast they are made.

    ./dev bench engine [--csv FILE] [--phases N]

Each case of bench/engine/*.facet is compiled for fixed sizes and timed by the simulator, without data, as the mean over
phases of the tensor clock's window. The bound is a closed form of kernel and machine: whole tiles of the better
orientation at the sustained tensor clock, or the bytes that must pass at the sustained DMA rate, whichever takes longer.

Beside them, times published for the real core: square products, against which ours stand with what the harness of the
publication adds; and the variants of the vendor's tutorial on products, 4096 x 8192 x 8192, as schedules
(bench/engine/tutorial): how far the simulator is from the published time.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time

BUILD = os.environ.get("FACET_BUILD", "build/release")
HERE = os.path.dirname(os.path.abspath(__file__))
# class, kernel, machine, sizes, bar: time / bound, or a kernel before it of the same sizes and how many times its time,
# or None where there is no bar
CASES = [
    ("bf16", "tn", "trn2", dict(M=4096, N=4096, K=4096), 1.03),
    ("bf16", "tn", "trn2", dict(M=5120, N=5120, K=5120), 1.03),
    ("bf16", "tn", "trn2", dict(M=4096, N=4096, K=8192), 1.03),
    ("bf16", "tn", "trn2", dict(M=3072, N=3072, K=3072), 1.04),
    ("bf16", "tn", "trn2", dict(M=2048, N=2048, K=2048), 1.06),
    ("bf16", "tn", "trn2", dict(M=1024, N=1024, K=1024), 1.35),
    ("bf16 layouts", "nn", "trn2", dict(M=4096, N=4096, K=4096), 1.05),
    ("bf16 layouts", "nn", "trn2", dict(M=2048, N=2048, K=2048), 1.12),
    ("bf16 layouts", "nt", "trn2", dict(M=4096, N=4096, K=4096), 1.06),
    ("bf16 layouts", "tt", "trn2", dict(M=4096, N=4096, K=4096), 1.06),
    ("f32", "tn32", "trn2", dict(M=4096, N=4096, K=4096), 1.04),
    ("f8 double row", "tn8", "trn2", dict(M=4096, N=4096, K=4096), 1.08),
    ("other machines", "tn", "trn1", dict(M=4096, N=8192, K=8192), 1.03),
    ("other machines", "tn", "trn3", dict(M=4096, N=4096, K=4096), 1.05),
    ("odd", "tn", "trn2", dict(M=4097, N=4097, K=4097), 1.06),
    ("odd", "tn", "trn2", dict(M=4095, N=3073, K=2047), 1.08),
    ("odd", "tn", "trn2", dict(M=1000, N=1000, K=1000), 1.45),
    ("odd", "tn", "trn2", dict(M=197, N=3072, K=768), 1.6),
    ("decode", "tn", "trn2", dict(M=1, N=4096, K=4096), 1.06),
    ("decode", "tn", "trn2", dict(M=4, N=4096, K=4096), 1.06),
    ("decode", "tn", "trn2", dict(M=16, N=4096, K=4096), 1.06),
    ("decode", "tn", "trn2", dict(M=1, N=11008, K=4096), 1.06),
    ("batched", "batched", "trn2", dict(B=16, M=1024, N=1024, K=64), 1.35),
    ("batched", "batched", "trn2", dict(B=64, M=128, N=128, K=128), 1.6),
    ("epilogue", "linear", "trn2", dict(M=4096, N=4096, K=4096), ("tn", 1.03)),
    ("integers", "qlinear", "trn2", dict(M=4096, N=4096, K=4096), ("nn", 1.25)),
    ("size", "tn", "trn2", dict(M=16384, N=16384, K=16384), None),
]
# kernel, machine, sizes, bar: microseconds from the first instruction to the last write; or a share of the case before
ATTENTION = [
    ("full", "trn2", dict(S=512, D=128), 18),
    ("full", "trn2", dict(S=1024, D=128), 42),
    ("full", "trn2", dict(S=4096, D=128), 330),
    ("causal", "trn2", dict(S=4096, D=128), 0.62),
    ("capped", "trn2", dict(S=1024, D=128), 85),
    ("segments", "trn2", dict(S=1024, D=128), 70),
]
# n of a square product in bf16 on trn2; microseconds published for lhsT x rhs (tn here) and for lhs x rhs (nn), one
# physical core: https://github.com/awslabs/nki-autotune at 616e222, autotune/gemm/trn2-scoreboard.md. Bars: from 2048
# on 1.01 of the first, less than the second.
PUBLISHED = [(512, 54, 56), (1024, 76, 79), (1536, 141, 149), (2048, 269, 288), (2560, 483, 509), (3072, 795, 827),
             (3584, 1247, 1291), (4096, 1823, 1886), (4608, 2573, 2653), (5120, 3504, 3603)]
# What its harness adds to each, in microseconds; fixed by the simulator's own validation (bench/sim/Gemm.cpp).
HARNESS_US = 40
# schedule, or the planner's own plan; published ms for trn1 in bf16 and trn2 in f32; how far off is allowed. The last
# variant also blocks k and adds its parts in SBUF, which no schedule can say: the planner's plan stands for it.
TUTORIAL = [
    ("tiled", 51.80, 39.89, 0.20),
    ("hoisted", 42.96, 28.20, 0.20),
    ("free", 22.07, 28.41, 0.20),
    (None, 6.97, 28.30, 0.03),
]
BYTES = {"tn32": (4, 4), "tn8": (1, 2), "qlinear": (1, 1)}


def machine_of(name):
    """Keys of a machine file as `facet targets --json` prints them."""
    text = subprocess.run([tool("facet"), "targets", "--json"], capture_output=True, text=True, check=True).stdout
    return {m["name"]: m["parameters"] for m in json.loads(text)["machines"]}[name]


def tool(name):
    return os.path.join(BUILD, "bin", name)


def value(machine, group, key):
    return machine[group][key]["value"]


def bound_ns(kernel, machine, sizes):
    """Design: the better orientation's whole tiles, or the compulsory bytes."""
    m, n, k, b = sizes["M"], sizes["N"], sizes["K"], sizes.get("B", 1)
    rows, columns = int(value(machine, "tensor", "rows")), int(value(machine, "tensor", "columns"))
    cycles = min(-(-m // columns) * n, -(-n // columns) * m)
    if kernel == "tn32":
        cycles *= int(value(machine, "tensor", "f32_passes")) * int(value(machine, "tensor", "f32_cycles_per_column"))
    double = 2 if kernel == "tn8" and value(machine, "tensor", "double_row") in ("on", True) else 1
    compute = b * cycles * -(-k // (rows * double)) / (float(value(machine, "tensor", "clock_mhz")) / 1000)
    operand, result = BYTES.get(kernel, (2, 2))
    moved = b * (operand * (m * k + k * n) + result * m * n)
    return max(compute, moved / float(value(machine, "dma", "sustained_gb_per_s")))


def attention_bound_ns(kernel, machine, sizes):
    """Both products at the full rate of the array, for the pairs that exist, or the bytes."""
    s, d = sizes["S"], sizes["D"]
    pairs = s * s if kernel == "full" else s * (s + 1) // 2
    compute = 2 * pairs * d / (int(value(machine, "tensor", "rows")) * int(value(machine, "tensor", "columns")))
    return max(compute / (float(value(machine, "tensor", "clock_mhz")) / 1000),
               4 * 2 * s * d / float(value(machine, "dma", "sustained_gb_per_s")))


def simulate(program, phase):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        subprocess.run([tool("facet-sim"), "run", program, "--timing-only", "--clock-phase", str(phase), "--json",
                        out.name], check=True, stdout=subprocess.DEVNULL)
        return json.load(open(out.name))["time_ns"]


def window_phases(machine, count):
    """Ages of the tensor clock's window at the start, in ns."""
    if value(machine, "tensor", "clock_window") not in ("on", True):
        return [0]
    window = float(value(machine, "tensor", "window_cycles")) / float(value(machine, "tensor", "window_clock_mhz")) * 1000
    return [round(i * window / count) for i in range(count)]


def published(machine, rows, phases):
    print(f"\n{'published squares':34} {'published':>10} {'time':>10} {'ratio':>7} {'bar':>6}")
    for n, *times in PUBLISHED:
        for kernel, theirs in zip(("tn", "nn"), times):
            with tempfile.TemporaryDirectory() as folder:
                program = os.path.join(folder, "p.engine")
                subprocess.run([tool("facet"), "compile", os.path.join(HERE, "engine", "gemm.facet"), "--kernel",
                                kernel, "--target", "trn2", "-o", program, f"-DM={n}", f"-DN={n}", f"-DK={n}"],
                               check=True)
                ours = [simulate(program, phase) for phase in window_phases(machine, phases)]
                size = os.path.getsize(program)
            mean = sum(ours) / len(ours) / 1e3 + HARNESS_US
            ratio = mean / theirs
            bar = 1 if kernel == "nn" else 1.01 if n >= 2048 else None
            mark = "" if bar is None else "ok" if ratio < bar or kernel == "tn" and ratio == bar else "over"
            case = f"{kernel} {n}x{n}x{n} trn2"
            print(f"{case:34} {theirs:10.1f} {mean:10.1f} {ratio:7.3f} {bar or '':>6} {mark}")
            rows.append(["published", case, "trn2", theirs, f"{mean:.3f}", f"{ratio:.4f}", bar or "", size, ""])


def tutorial(machines, rows):
    print(f"\n{'tutorial':34} {'published':>10} {'time':>10} {'ratio':>7} {'bar':>6}")
    for name, kernel, column in (("trn1", "tn", 0), ("trn2", "tn32", 1)):
        for schedule, *published, bar in TUTORIAL:
            with tempfile.TemporaryDirectory() as folder:
                program = os.path.join(folder, "p.engine")
                files = [os.path.join(HERE, "engine", "gemm.facet")]
                if schedule:
                    files.append(os.path.join(HERE, "engine", "tutorial", schedule + ".facet"))
                subprocess.run([tool("facet"), "compile", *files, "--kernel", kernel, "--target", name, "-o", program,
                                "-DM=4096", "-DN=8192", "-DK=8192"], check=True)
                times = [simulate(program, phase) for phase in window_phases(machines[name], 2)]
            mean = sum(times) / len(times) / 1e6
            ratio = mean / published[column]
            case = f"{schedule or 'planned'} {kernel} {name}"
            mark = "ok" if abs(ratio - 1) <= bar else "off"
            print(f"{case:34} {published[column]:8.2f}ms {mean:8.2f}ms {ratio:7.3f} {bar:6} {mark}")
            rows.append(["tutorial", case, name, f"{published[column] * 1e3:.3f}", f"{mean * 1e3:.3f}", f"{ratio:.4f}",
                         bar, "", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--csv", help="write class,case,machine,bound_us,time_us,ratio,bar,bytes,compile_ms to FILE")
    parser.add_argument("--phases", type=int, default=16, help="phases of the clock window (default 16)")
    options = parser.parse_args()
    targets = [os.path.join("bin", "facet"), os.path.join("bin", "facet-sim")]
    subprocess.run(["ninja", "-C", BUILD, *targets], check=True, stdout=subprocess.DEVNULL)
    machines, rows, means = {}, [], {}
    print(f"{'case':34} {'bound':>10} {'time':>10} {'ratio':>7} {'bar':>6} {'program':>9} {'compile':>8}")
    cases = [("gemm", *case) for case in CASES] + [("attention", "attention", *case) for case in ATTENTION]
    for file, group, kernel, name, sizes, bar in cases:
        machine = machines.setdefault(name, machine_of(name))
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "p.engine")
            command = [tool("facet"), "compile", os.path.join(HERE, "engine", f"{file}.facet"), "--kernel", kernel,
                       "--target", name, "-o", program, *[f"-D{size}={number}" for size, number in sizes.items()]]
            best = 1e9
            for _ in range(3):
                start = time.perf_counter()
                done = subprocess.run(command, capture_output=True, text=True)
                best = min(best, time.perf_counter() - start)
            if done.returncode:
                sys.exit(done.stderr)
            times = [simulate(program, phase) for phase in window_phases(machine, options.phases)]
            size = os.path.getsize(program)
        mean = sum(times) / len(times)
        bound = (attention_bound_ns if file == "attention" else bound_ns)(kernel, machine, sizes)
        if file == "attention":
            bar = round((bar * before if bar < 1 else 1000 * bar) / bound, 3)
        before = mean
        if isinstance(bar, tuple):
            bar = round(bar[1] * means[bar[0], str(sizes)] / bound, 3)
        means[kernel, str(sizes)] = mean
        if min(times) < bound:
            sys.exit(f"{kernel} {sizes}: {min(times)} ns is less than the bound of {bound} ns")
        case = f"{kernel} {'x'.join(str(v) for v in sizes.values())} {name}"
        ratio = mean / bound
        mark = "" if bar is None else "ok" if ratio <= bar else "over"
        print(f"{case:34} {bound / 1e3:10.1f} {mean / 1e3:10.1f} {ratio:7.3f} {bar or '':>6} {size:9} "
              f"{best * 1e3:7.0f}ms {mark}")
        rows.append([group, case, name, f"{bound / 1e3:.3f}", f"{mean / 1e3:.3f}", f"{ratio:.4f}", bar or "", size,
                     f"{best * 1e3:.1f}"])
    published(machines["trn2"], rows, options.phases)
    tutorial(machines, rows)
    if options.csv:
        with open(options.csv, "w", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(["class", "case", "machine", "bound_us", "time_us", "ratio", "bar", "bytes", "compile_ms"])
            writer.writerows(rows)


if __name__ == "__main__":
    main()
