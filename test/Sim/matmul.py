# A tiled bf16 matmul, x^T w with x[512, 320] and w[512, 512], as one looped program:
# rings of three tiles (the trip count is no multiple of 3), accumulation in PSUM,
# copies and stores behind it. All sums are whole numbers below 2^24, so NumPy's are exact.
# RUN: mkdir -p %t && %python %s %facet-sim %t

import json
import os
import subprocess
import sys

import numpy as np

sim, folder = sys.argv[1:]
program = """
.program 1
.machine "trn2"
.buffer x in hbm.bf16[512, 320] at 0 bytes 327680
.buffer w const hbm.bf16[512, 512] at 0x80000 bytes 524288
.buffer y out hbm.f32[320, 512] at 0x100000 bytes 655360
.semaphore full0
.semaphore full1
.semaphore full2
.semaphore used0
.semaphore used1
.semaphore used2
.semaphore summed final=5
.semaphore drained final=5
.semaphore stored final=80
.queue tensor
  .ring r0 depth=3
  .ring r1 depth=1
  loop trips=5
    loop trips=4
      load_weights weights=sbuf.bf16[0:128, 128*r0, 64], wait(full0[r0] >= 32 + 32*round)
      matmul dst=psum.f32[0:64, 0, 512], moving=sbuf.bf16[0:128, 4096 + 1024*r0, 512], start, if(i1 == 0), wait(drained[r1] >= 0 + 1*round), update(used0[r0] += 1)
      matmul dst=psum.f32[0:64, 0, 512], moving=sbuf.bf16[0:128, 4096 + 1024*r0, 512], if(i1 != 0, i1 - 3 != 0), update(used0[r0] += 1)
      matmul dst=psum.f32[0:64, 0, 512], moving=sbuf.bf16[0:128, 4096 + 1024*r0, 512], stop, if(i1 - 3 == 0), update(used0[r0] += 1), update(summed += 1)
      advance ring=r0
    end
    advance ring=r1
  end
.queue vector
  .ring r0 depth=1
  loop trips=5
    nop wait(stored[r0] >= 0 + 16*round)
    copy dst=sbuf.f32[0:64, 0x8000, 512], src=psum.f32[0:64, 0, 512], wait(summed[r0] >= 1 + 1*round), update(drained += 1), loc("k.facet":3:9, "matmul y")
    advance ring=r0
  end
.queue scalar
  .ring r0 depth=1
  loop trips=5
    dma_copy dst=hbm.f32[y, 64, 131072*i0, 512], src=sbuf.f32[0:64, 0x8000, 512], ring=2, wait(drained[r0] >= 1 + 1*round), update(stored += 1)
    advance ring=r0
  end
.queue sync
  .ring r1 depth=3
  loop trips=5
    loop trips=4
      dma_copy dst=sbuf.bf16[0:128, 128*r1, 64], src=hbm.bf16[x, 128@320, 128*i0 + 81920*i1, 64], wait(used0[r1] >= 0 + 1*round), update(full0[r1] += 1)
      dma_copy dst=sbuf.bf16[0:128, 4096 + 1024*r1, 512], src=hbm.bf16[w, 128, 131072*i1, 512], ring=1, update(full0[r1] += 1)
      advance ring=r1
    end
  end
"""


def path(name):
    return os.path.join(folder, name)


def bf16(whole):
    """Small whole numbers are bf16 numbers: the upper half of their f32."""
    return (whole.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


rng = np.random.default_rng(7)
x = rng.integers(-64, 65, (512, 320))
w = rng.integers(-64, 65, (512, 512))
np.save(path("x.npy"), bf16(x))
np.save(path("w.npy"), bf16(w))


def run(text, *options):
    with open(path("p.s"), "w") as file:
        file.write(text)
    return subprocess.run(
        [sim, "run", path("p.s"), "x=" + path("x.npy"), "w=" + path("w.npy"),
         "y=" + path("y.npy"), *options], capture_output=True, text=True)


for options in ([], ["--no-check"], ["--orders", "3"]):
    done = run(program, "--json", path("run.json"), *options)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert (np.load(path("y.npy")) == (x.T @ w).astype(np.float32)).all()
    os.remove(path("y.npy"))
    result = json.load(open(path("run.json")))
    assert result["schema"] == "facet-sim-run-2"
    assert result["completed"] and result["findings"] == []
    assert result["multiply_adds"] == 512 * 320 * 512
    assert result["bytes"]["hbm_read"] == 20 * (128 * 64 + 128 * 512) * 2
    assert result["bytes"]["hbm_written"] == 320 * 512 * 4
    assert result["queues"][0] == {"engine": "tensor", "executed": 96, "skipped": 40}

    time_ns, cycles = result["time_ns"], result["cycles"]
    assert time_ns > 0 and cycles == -(-time_ns * 24 // 10), (time_ns, cycles)
    assert done.stdout == f"{time_ns:.1f} ns, {cycles} cycles\n", done.stdout

# Without data: the same time and the same counts.
done = subprocess.run([sim, "run", path("p.s"), "--timing-only", "--json", path("time.json")],
                      capture_output=True, text=True)
assert done.returncode == 0, done.stderr
assert json.load(open(path("time.json"))) == result
later = subprocess.run([sim, "run", path("p.s"), "--timing-only", "--clock-phase", "1700", "--json", "-"],
                       capture_output=True, text=True)
assert json.loads(later.stdout)["multiply_adds"] == result["multiply_adds"]  # and nothing else on it
given = subprocess.run([sim, "run", path("p.s"), "--timing-only", "x=x.npy"], capture_output=True, text=True)
assert given.returncode == 1 and "buffer 'x' is given, with --timing-only none is" in given.stderr
wrong = subprocess.run([sim, "run", path("p.s"), "--clock-phase", "-1"], capture_output=True, text=True)
assert wrong.returncode == 2 and "--clock-phase wants a number, got '-1'" in wrong.stderr

# What if triggers took twice as long: another machine, the same program.
with open(path("slow.yaml"), "w") as file:
    file.write("format: facet-machine-1\nname: slow\nabout: slow triggers\nbase: trn2\ndma:\n  direct_issue_ns: 1120\n")
def on(machine):
    return subprocess.run([sim, "run", path("p.s"), "--timing-only", "--machine", machine], capture_output=True, text=True)
slow = on(path("slow.yaml"))
assert float(slow.stdout.split()[0]) > 1.5 * time_ns, (slow.stdout, slow.stderr)
assert "no machine is called 'trn9'" in on("trn9").stderr and on("trn9").returncode == 1, on("trn9").stderr
cpu = on("x86-64-v3")
assert cpu.returncode == 1 and "machine 'x86-64-v3' is a cpu; programs are for matrix engines" in cpu.stderr, cpu.stderr

# A lost update is a deadlock that says who waits for what.
broken = program.replace("update(used0[r0] += 1), update(summed += 1)", "update(summed += 1)")
done = run(broken)
assert done.returncode == 1
assert "SIM-DEADLOCK" in done.stderr
assert "waits for used0 to reach 2, it is 1 (i0 = 1, i1 = 2, r1 = slot 0 of round 2)" in done.stderr, done.stderr
assert not os.path.exists(path("y.npy"))
timed = subprocess.run([sim, "run", path("p.s"), "--timing-only"], capture_output=True, text=True)
assert timed.returncode == 1 and timed.stdout == "" and timed.stderr == done.stderr, timed.stderr

# A wait dropped from the copy reads an open group, with the place in the user's source.
broken = program.replace("wait(summed[r0] >= 1 + 1*round), ", "")
done = run(broken)
assert done.returncode == 1
assert "SIM-UNINIT" in done.stderr, done.stderr
assert "k.facet:3:9: note: from 'matmul y'" in done.stderr, done.stderr
