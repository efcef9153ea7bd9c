# What the array holds is what was loaded last when the program runs: the load that the text has before
# a matmul or transpose is skipped here, and the one before that does not fit.
# RUN: mkdir -p %t && env PYTHONPATH=%S/Inputs %python %s %facet-sim %t

import sys

from simulate import Case

case = Case(*sys.argv[1:])
SKIPPED = ", if(1 == 0)\n"
W16, W32 = "load_weights weights=sbuf.bf16[0:16, 0, 32]", "load_weights weights=sbuf.bf16[0:32, 0, 32]"
MATMUL = "matmul dst=psum.f32[0:32, 0, 32], moving=sbuf.{}, start, stop"


def refused(before, skipped, instruction, message):
    done = case.raw(".queue tensor\n" + before + "\n" + skipped + SKIPPED + instruction + "\n", "--no-check")
    wanted = "error: SIM-WEIGHTS: queue tensor, instruction 2 (" + instruction.split()[0] + "): " + message + "\n"
    assert done.returncode == 1 and wanted in done.stderr, (wanted, done.stderr)


refused("load_weights weights=sbuf.bf16[0:32, 0, 16]", W32, MATMUL.format("bf16[0:32, 1024, 32]"),
        "dst has 32 partitions, the weights loaded last have 16 columns")
refused(W16, W32, MATMUL.format("bf16[0:32, 1024, 32]"),
        "moving has partitions 0:32, the weights loaded last 0:16")
refused("load_weights weights=sbuf.f32[0:32, 0, 32]", W32, MATMUL.format("bf16[0:32, 1024, 32]"),
        "moving is bf16, the weights loaded last are f32")
refused("load_weights weights=sbuf.f8e4m3[0:32, 0, 32]", "load_weights weights=sbuf.f8e4m3[0:32, 0, 2, 32], double_row",
        MATMUL.format("f8e4m3[0:32, 1024, 2, 32]") + ", double_row",
        "double_row here and of the weights loaded last differ")
refused("load_weights weights=sbuf.f32[0:32, 0, 32], pass=low", "load_weights weights=sbuf.f32[0:32, 0, 32], pass=high",
        MATMUL.format("f32[0:32, 1024, 32]") + ", pass=high", "pass here and of the weights loaded last differ")
refused(W16, W32, "transpose dst=psum.bf16[0:32, 0, 32]",
        "dst has 32 elements per row, the weights loaded last have 16 rows")
refused("load_weights weights=sbuf.f16[0:32, 0, 32]", W32, "transpose dst=psum.bf16[0:32, 0, 32]",
        "dst is bf16, the weights loaded last are f16")
refused("load_weights weights=sbuf.f8e4m3[0:32, 0, 2, 32], double_row", "load_weights weights=sbuf.f8e4m3[0:32, 0, 32]",
        "transpose dst=psum.bf16[0:32, 0, 32]", "the weights loaded last are double_row")
