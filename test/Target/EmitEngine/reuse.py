# Programs of several stages that need more semaphores, or more ring registers, than there are: they serve again behind
# a barrier, and with all checks on the simulator (races among them) the data comes through.
# RUN: mkdir -p %t && %python %s %facet-opt %facet-sim %t

import re
import subprocess
import sys

import numpy as np

opt, sim, folder = sys.argv[1:]


def copies(stages, trips):
    """Each stage moves `window` tiles per trip into a ring of `depth`, through vector, and out of another ring."""
    text, total = [], 4 * trips * 8
    for i in range(len(stages) + 1):
        use = "in" if i == 0 else "out" if i == len(stages) else "scratch"
        text.append(f'%b{i} = engine.buffer "b{i}" {use} : !engine.tile<4x{total}xf32, hbm>')
    for s, (depth, window) in enumerate(stages):
        for name in ("in", "out"):
            text.append(f'%{name}{s} = engine.ring "{name}{s}" : !engine.ring<{depth} x 4x8xf32, sbuf>')
    for s, (depth, window) in enumerate(stages):
        ring, tile, hbm = f"<{depth} x 4x8xf32, sbuf>", "!engine.tile<4x8xf32, sbuf>", "!engine.tile<4x8xf32, hbm>"
        if s:
            text.append("engine.barrier")
        text.append(f"engine.for %i{s} = {4 * trips // window} {{")

        def view(buffer, j):
            name = f"%v{s}_{buffer}_{j}"
            text.append(f"{name} = engine.view %b{buffer}[%i{s}] at affine_map<(i) -> (i * {8 * window} + {8 * j})> "
                        f"row_step {total} : !engine.tile<4x{total}xf32, hbm> to {hbm}")
            return name

        for j in range(window):
            text.append(f"%a{s}_{j} = engine.acquire %in{s} : {ring}")
            text.append(f'engine.issue sync "dma_copy"(dst = %a{s}_{j}, src = {view(s, j)}) : {tile}, {hbm}')
            text.append(f"engine.commit %in{s} : {ring}")
        for j in range(window):
            text.append(f"%w{s}_{j} = engine.wait %in{s} : {ring}")
            text.append(f"%o{s}_{j} = engine.acquire %out{s} : {ring}")
        for j in range(window):
            text.append(f'engine.issue vector "copy"(dst = %o{s}_{j}, src = %w{s}_{j}) : {tile}, {tile}')
            text.append(f"engine.commit %out{s} : {ring}")
            text.append(f"engine.release %in{s} : {ring}")
        for j in range(window):
            text.append(f"%d{s}_{j} = engine.wait %out{s} : {ring}")
            text.append(f'engine.issue scalar "dma_copy"(dst = {view(s + 1, j)}, src = %d{s}_{j}) : {hbm}, {tile}')
            text.append(f"engine.release %out{s} : {ring}")
        text.append("}")
    return 'engine.program @copies machine "trn2" {\n' + "\n".join(text) + "\n}\n"


def emit(text):
    return subprocess.run([opt, "--test-emit-engine", "-o", "/dev/null"], input=text, capture_output=True, text=True)


def check(stages, trips, shares):
    done = emit(copies(stages, trips))
    assert done.returncode == 0, done.stderr
    assert bool(re.search(rf"^ *\.{shares} .*shared", done.stdout, re.M)), done.stdout[:3000]
    program, x, y = folder + "/p.s", folder + "/x.npy", folder + "/y.npy"
    open(program, "w").write(done.stdout)
    data = np.random.default_rng(1).standard_normal((4, 4 * trips * 8), np.float32)
    np.save(x, data)
    subprocess.run([sim, "as", program, "-o", folder + "/p.engine"], check=True)
    run = subprocess.run([sim, "run", folder + "/p.engine", "b0=" + x, f"b{len(stages)}=" + y], capture_output=True,
                         text=True)
    assert run.returncode == 0 and not run.stderr, run.stderr
    assert (np.load(y) == data).all()


# 4 rows of 40 semaphores per stage; slots differ in how often they were filled.
check([(40, 1), (40, 1), (30, 2), (31, 4)], 13, "semaphore")
# Vector has up to 2 x 4 registers per stage, of one depth; they stop at slots of their own.
check([(5, 4), (5, 2), (5, 4), (5, 4), (5, 1)], 7, "ring")

# None of depth 4 is left on vector for the last stage: its rings get the 3 slots of an earlier one.
check([(3, 1), (5, 4), (6, 4), (4, 2)], 6, "ring")

# What does not meet may share, what does meet may not: these two rings of 100 slots get as many as there are.
done = emit(copies([(100, 1)], 30))
assert done.returncode == 0 and not re.search("depth=100", done.stdout), done.stderr
done = emit(copies([(9, 1), (12, 12)], 12))
assert "and the others of its program take 26 ring registers on vector, which has 16. fewer statements in a kernel, or " \
    "fewer slots in rings, take fewer" in done.stderr, done.stderr
