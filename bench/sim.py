#!/usr/bin/env python3
"""How well the simulator fits published counts and times, and how fast it is.

    ./dev bench sim [--csv FILE] [--update PAGE | --compare PAGE...] [--no-speed]

Rows come from facet-sim-rows (bench/sim): each is a program whose count or time is published. --csv writes them
(table,case,measured,simulated,unit), --update rewrites the section of a page (docs/Simulator.md), --compare only says
whether it is current. Then a 4096^3 product in bf16, blocked and double buffered, is run whole, timed alone, and
beside NumPy.
"""

import argparse
import csv
import io
import itertools
import os
import resource
import subprocess
import sys
import tempfile
import time

BUILD = os.environ.get("FACET_BUILD", "build/release")
BEGIN, END = "<!-- begin generated: fit -->\n", "<!-- end generated -->\n"
TABLES = {
    "closed-form": "Counts of other simulators and of documents",
    "trn2-instr": "Instructions, hops and transfers of a Trainium2 core, and the recorded runs used for fitting",
    "trn2-heldout": "Recorded runs of a Trainium2 core that no parameter was fitted on, and latencies of programs of ours for the same kernels",
    "trn2-gemm": "Matrix products on Trainium2",
    "trn1": "Matrix products on Trainium1",
}
NOTES = {
    "trn2-heldout": "The order of work in our attention programs was chosen with these latencies in view: read the attention "
                    "rows as fitted. GEMM + GELU stands without its activation, whose place in the order is not published.",
}


def rows(*options, check=False):
    """The rows as dictionaries, and those that miss their bar."""
    tool = os.path.join(BUILD, "bin", "facet-sim-rows")
    done = subprocess.run([tool, "rows", *options], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    missed = subprocess.run([tool, "rows", "--check", *options], capture_output=True, text=True).stdout if check else ""
    return tuple(list(csv.DictReader(io.StringIO(text))) for text in (done.stdout, missed))


def number(text):
    value = float(text)
    return f"{value:.0f}" if value == int(value) else f"{value:.4g}" if abs(value) < 1000 else f"{value:.0f}"


def difference(row):
    measured, simulated = float(row["measured"]), float(row["simulated"])
    if row["unit"] == "%":
        return f"{simulated - measured:+.1f} points"
    return "exact" if simulated == measured else f"{100 * (simulated / measured - 1):+.1f} %"


def section(default, free, longest):
    """The page's section: every row; where loops matter also with other back-edges."""
    text = []
    for table, title in TABLES.items():
        mine = [r for r in default if r["table"] == table]
        if not mine:
            continue
        loops = table in ("trn2-gemm", "trn1")
        text.append(f"\n#### {title} (`{table}`)\n\n")
        text.append("| case | published | simulated | unit | difference |" + (" back-edge 0 | back-edge 233 |" if loops else "") + "\n")
        text.append("|---|---|---|---|---|" + ("---|---|" if loops else "") + "\n")
        for r in mine:
            line = f"| {r['case']} | {number(r['measured'])} | {number(r['simulated'])} | {r['unit']} | {difference(r)} |"
            if loops:
                for other in (free, longest):
                    same = next(o for o in other if o["table"] == table and o["case"] == r["case"])
                    line += f" {number(same['simulated'])} |"
            text.append(line + "\n")
        if table in NOTES:
            text.append(f"\n{NOTES[table]}\n")
    return "".join(text)


def renewed(page, text):
    """The page as it is, and with its section as it should be."""
    with open(page, encoding="utf-8") as file:
        whole = file.read()
    head, rest = whole.split(BEGIN)
    return whole, head + BEGIN + text + "\n" + END + rest.split(END, 1)[1]


def update(page, text):
    _, new = renewed(page, text)
    with open(page, "w", encoding="utf-8") as file:
        file.write(new)


def compare(page, text):
    """Prints the first line of the page that the rows say otherwise; whether there is one."""
    old, new = (text.split("\n") for text in renewed(page, text))
    for number, (is_there, wanted) in enumerate(itertools.zip_longest(old, new, fillvalue="")):
        if is_there != wanted:
            print(f"{page}:{number + 1}: not current: run ./dev bench sim --update {page}\n- {is_there}\n+ {wanted}")
            return True
    return False


def measured_run(command):
    """Wall seconds, CPU seconds and the largest memory in MB of a command."""
    before = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - before
    if status:
        sys.exit(process.stderr.read().decode())
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def speed(size=4096, times=3):
    import numpy as np
    with tempfile.TemporaryDirectory() as folder:
        path = lambda name: os.path.join(folder, name)
        tool, simulator = (os.path.join(BUILD, "bin", t) for t in ("facet-sim-rows", "facet-sim"))
        subprocess.run([tool, "gemm", "--order", "MNK", "--tiles", "4,4,2", "-m", str(size), "-n", str(size),
                        "-k", str(size), "-o", path("p.engine")], check=True)
        rng = np.random.default_rng(0)
        operands = []
        for name in ("a", "b"):
            upper = rng.standard_normal((size, size), dtype=np.float32).view(np.uint32) >> 16
            np.save(path(name + ".npy"), upper.astype(np.uint16))
            operands.append((upper << 16).view(np.float32))
        data = [f"lhsT={path('a.npy')}", f"rhs={path('b.npy')}", f"c={path('c.npy')}"]
        flops = 2.0 * size**3

        def best(command):
            return min((measured_run(command) for _ in range(times)), key=lambda m: m[1])

        whole = best([simulator, "run", path("p.engine"), *data])
        function = best([simulator, "run", path("p.engine"), *data, "--no-check"])
        alone = best([simulator, "run", path("p.engine"), "--timing-only"])
        nothing = best([simulator, "run", "--help"])
        numpy_cpu = min(cpu_of(lambda: operands[0].T @ operands[1]) for _ in range(times))
        # The same order of sums: each K tile of 128 by itself, then added.
        def tiled():
            c = np.zeros((size, size), np.float32)
            for k in range(0, size, 128):
                c += operands[0][k:k + 128].T @ operands[1][k:k + 128]
        numpy_tiled = min(cpu_of(tiled) for _ in range(times))

        print(f"\n{size}^3 bf16, blocked, double buffered, one looped program ({os.path.getsize(path('p.engine'))} bytes); "
              f"best of {times} by CPU time\n")
        print(f"  load + check + function + time  {whole[1]:7.2f} s CPU {whole[0]:7.2f} s wall {whole[2]:7.0f} MB   (bar 6 s, 1500 MB)")
        print(f"  time alone                      {1000 * (alone[1] - nothing[1]):7.1f} ms CPU beyond starting the tool   (bar 20 ms)")
        print(f"  function without checks         {function[1]:7.2f} s CPU  {flops / function[1] / 1e9:7.1f} GFLOP/s of a core, "
              f"{flops / function[0] / 1e9:.1f} by the clock on the wall   (bar 150)")
        print(f"  NumPy, one product in f32       {numpy_cpu:7.2f} s CPU  {flops / numpy_cpu / 1e9:7.1f} GFLOP/s of a core")
        print(f"  NumPy, K tiles of 128 added     {numpy_tiled:7.2f} s CPU  {flops / numpy_tiled / 1e9:7.1f} GFLOP/s of a core")


def cpu_of(work):
    before = resource.getrusage(resource.RUSAGE_SELF)
    work()
    after = resource.getrusage(resource.RUSAGE_SELF)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--csv", help="write the rows to this file")
    parser.add_argument("--update", help="rewrite the section of this page")
    parser.add_argument("--compare", nargs="+", help="only say whether the section of these pages is current")
    parser.add_argument("--no-speed", action="store_true", help="only the rows")
    arguments = parser.parse_args()

    def all_rows():
        return section(rows()[0], rows("--loop-back", "0")[0], rows("--loop-back", "233")[0])

    if arguments.compare:
        text = all_rows()
        return max(compare(page, text) for page in arguments.compare)
    default, outside = rows(check=True)
    if arguments.csv:
        with open(arguments.csv, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, default[0].keys(), lineterminator="\n")
            writer.writeheader()
            writer.writerows(default)
    if arguments.update:
        update(arguments.update, all_rows())
    for table, title in TABLES.items():
        mine = [r for r in default if r["table"] == table]
        if not mine:
            continue
        print(f"{title} ({table}): {len(mine)} rows, {sum(o['table'] == table for o in outside)} outside their bar")
        if table == "closed-form":
            continue
        for r in mine:
            print(f"  {r['case']:64} {number(r['measured']):>8} {number(r['simulated']):>8} {r['unit']:4} {difference(r)}")
    if not arguments.no_speed:
        speed()
    return 1 if outside else 0


if __name__ == "__main__":
    sys.exit(main())
