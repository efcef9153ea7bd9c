"""how long facet-sim takes for a blocked bf16 matmul: load, checks, function and time

  ./dev bench simspeed            4096 x 4096 x 4096, 8192 matmuls
  ./dev bench simspeed 2048       a multiple of 512

The program is looped and double buffered: panels of b [n, 512] stay while panels of a [n, 128] go
by, four PSUM banks take turns. The result is compared with NumPy's, in whole numbers; NumPy's product
of the same numbers in f32 is the yardstick. Each run is made three times and the best one counts.
"""

import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

BUILD = pathlib.Path(os.environ.get("FACET_BUILD", "build/release"))
SIM = BUILD / "bin" / "facet-sim"


def program(n):
    tiles, rows, panels, size = n // 128, n // 128, n // 512, 2 * n * n
    semaphores = ["a_full0", "a_full1", "a_free0", "a_free1", "b_full0", "b_full1", "b_free0", "b_free1", "summed",
                  "drained", "copied", "stored0", "stored1", "stored2", "stored3"]
    b, a, c = 0, 2 * tiles * 1024, 2 * tiles * (1024 + 256)
    matmul = (f"matmul dst=psum.f32[0:128, 2048*r2, 512], "
              f"moving=sbuf.bf16[0:128, {b} + {tiles * 1024}*r0 + 1024*i2, 512]")
    return f"""
.program 1
.machine "trn2"
.buffer a in hbm.bf16[{n}, {n}] at 0 bytes {size}
.buffer b in hbm.bf16[{n}, {n}] at {size} bytes {size}
.buffer c out hbm.bf16[{n}, {n}] at {2 * size} bytes {size}
""" + "".join(f".semaphore {s}\n" for s in semaphores) + f"""
.queue tensor
  .ring r0 depth=2
  .ring r1 depth=2
  .ring r2 depth=4
  .ring r3 depth=1
  loop trips={panels}
    nop wait(b_full0[r0] >= 16 + 16*round)
    loop trips={rows}
      nop wait(a_full0[r1] >= 16 + 16*round), wait(drained[r3] >= -3 + 1*round)
      loop trips={tiles}
        load_weights weights=sbuf.bf16[0:128, {a} + {tiles * 256}*r1 + 256*i2, 128]
        {matmul}, start, if(i2 == 0)
        {matmul}, if(i2 != 0, i2 - {tiles - 1} != 0)
        {matmul}, stop, if(i2 - {tiles - 1} == 0), update(a_free0[r1] += 1), update(summed += 1)
      end
      advance ring=r1
      advance ring=r2
      advance ring=r3
    end
    nop update(b_free0[r0] += 1)
    advance ring=r0
  end
.queue vector
  .ring r0 depth=4
  .ring r1 depth=1
  loop trips={panels * rows}
    nop wait(stored0[r0] >= 0 + 16*round)
    copy dst=sbuf.bf16[0:128, {c} + 1024*r0, 512], src=psum.f32[0:128, 2048*r0, 512], \
wait(summed[r1] >= 1 + 1*round), update(drained += 1), update(copied += 1)
    advance ring=r0
    advance ring=r1
  end
.queue scalar
  .ring r0 depth=4
  .ring r1 depth=1
  loop trips={panels}
    loop trips={rows}
      dma_copy dst=hbm.bf16[c, 128@{n}, 1024*i0 + {256 * n}*i1, 512], src=sbuf.bf16[0:128, {c} + 1024*r0, 512], \
ring=2, wait(copied[r1] >= 1 + 1*round), update(stored0[r0] += 1)
      advance ring=r0
      advance ring=r1
    end
  end
.queue sync
  .ring r0 depth=2
  .ring r1 depth=2
  loop trips={panels}
    dma_copy dst=sbuf.bf16[0:128, {b} + {tiles * 1024}*r0, {tiles}, 512], \
src=hbm.bf16[b, 128@{n}, 1024*i0, {tiles}@{128 * n}, 512], ring=1, wait(b_free0[r0] >= 0 + 1*round), \
update(b_full0[r0] += 1)
    advance ring=r0
    loop trips={rows}
      dma_copy dst=sbuf.bf16[0:128, {a} + {tiles * 256}*r1, {tiles}, 128], \
src=hbm.bf16[a, 128@{n}, 256*i1, {tiles}@{128 * n}, 128], wait(a_free0[r1] >= 0 + 1*round), update(a_full0[r1] += 1)
      advance ring=r1
    end
  end
"""


def to_bf16(x):
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def measured(run):
    """(processor seconds, seconds) of the best of three."""
    best = None
    for _ in range(3):
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        own = time.process_time()
        run()
        after, ended = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        cpu = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime + time.process_time() - own)
        best = min(best or (cpu, ended - started), (cpu, ended - started))
    return best


def main():
    n = int((sys.argv[1:] or ["4096"])[0])
    if n % 512 or n <= 0:
        sys.exit(f"simspeed: {n} is no multiple of 512")
    subprocess.run(["ninja", "-C", str(BUILD), "facet-sim"], check=True, stdout=subprocess.DEVNULL)
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        def path(name):
            return os.path.join(folder, name)

        a, b = (rng.integers(-8, 9, (n, n)).astype(np.float32) for _ in range(2))
        np.save(path("a.npy"), to_bf16(a))
        np.save(path("b.npy"), to_bf16(b))
        with open(path("p.s"), "w") as file:
            file.write(program(n))
        subprocess.run([SIM, "as", path("p.s"), "-o", path("p.engine")], check=True)

        def run(*options):
            files = [] if "--timing-only" in options else [f"a={path('a.npy')}", f"b={path('b.npy')}",
                                                           f"c={path('c.npy')}"]
            subprocess.run([SIM, "run", path("p.engine"), *files, *options], check=True, stdout=subprocess.DEVNULL)

        cases = {"all": (), "all, one thread": ("--threads", "1"), "without checks": ("--no-check",),
                 "time alone": ("--timing-only",)}
        print(f"{'facet-sim run':24} processor s      s  GFLOP/s by the clock")

        def report(name, cpu, wall):
            rate = "" if name == "time alone" else f"{2e-9 * n ** 3 / wall:9.0f}"
            print(f"{name:24} {cpu:11.2f} {wall:6.2f}{rate}")

        for name, options in cases.items():
            cpu, wall = measured(lambda: run(*options))
            report(name, cpu, wall)
            if name == "all":
                found = np.load(path("c.npy")).view(np.uint16)
                assert np.array_equal(found, to_bf16(a.T @ b)), "the result is not NumPy's"
        cpu, wall = measured(lambda: a.T @ b)
        report("NumPy, f32", cpu, wall)
        print(f"{2e-9 * n ** 3:.0f} GFLOP")


if __name__ == "__main__":
    main()
