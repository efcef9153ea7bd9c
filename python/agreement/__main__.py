# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles kernels of examples/ and compares them with their meaning in NumPy.

    python -m agreement --facet build/bin/facet --examples examples gemm/trmm attention
    python -m agreement --examples examples --self-test

Names are themes or theme/kernel; none means all. Prints a line per kernel, a line
per complaint, and ends with 3 when anything differs, like `facet check`.
"""

import argparse
import pathlib
import sys
import tempfile

from . import call, emulated, kernels, longer, selftest, signature  # noqa: F401
from .checks import Checks
from .registry import KERNELS


def main():
    parser = argparse.ArgumentParser(prog="agreement", description=__doc__.split("\n")[0])
    parser.add_argument("kernels", nargs="*", metavar="theme[/kernel]")
    parser.add_argument("--facet", help="the compiler")
    parser.add_argument("--examples", type=pathlib.Path, required=True)
    parser.add_argument("--target", default="reference")
    parser.add_argument("--triple", help="of another machine, whose programs --emulator runs")
    parser.add_argument("--emulator", default="qemu-aarch64")
    parser.add_argument("--clang", default="clang-22", help="makes the program around an emulated kernel")
    parser.add_argument("--lld", default="ld.lld-22")
    parser.add_argument("--nm", default="llvm-nm-22")
    parser.add_argument("--libraries", type=pathlib.Path, metavar="DIR",
                        help="take DIR/KERNEL.so instead of compiling")
    parser.add_argument("--self-test", action="store_true", help="test the test, without a compiler")
    parser.add_argument("--long", type=int, metavar="N", default=0,
                        help="also N random sizes and seeds per kernel")
    options = parser.parse_args()

    wanted = [s for s in KERNELS.values()
              if not options.kernels or {s.theme, s.theme + "/" + s.name} & set(options.kernels)]
    known = {n for s in KERNELS.values() for n in (s.theme, s.theme + "/" + s.name)}
    if unknown := set(options.kernels) - known:
        parser.error("no kernel or theme " + ", ".join(sorted(unknown)))

    wrong = 0
    with tempfile.TemporaryDirectory(prefix="agreement-") as directory:
        for spec in wanted:
            source = options.examples / spec.theme / (spec.name + ".facet")
            head = signature.parse(source.read_text(), spec.name)
            if options.self_test:
                tried = selftest.all(Checks(spec, head, None))
            elif options.triple:
                program = emulated.build(options, source, pathlib.Path(directory), spec.name)
                library = emulated.Library(program, head, options)
                tried = list(Checks(spec, head, library).all())
                library.close()
            else:
                path = (options.libraries / (spec.name + ".so") if options.libraries else
                        call.compile(options.facet, source, options.target,
                                     pathlib.Path(directory), spec.name))
                checks = Checks(spec, head, call.Library(path, head))
                tried = checks.all() if not options.long else longer.all(checks, options.long)
            count, found = 0, []
            for what, complaints in tried:
                count += 1
                found += [f"  {spec.theme}/{spec.name}: {what}: {c}" for c in complaints]
            print(f"{spec.theme}/{spec.name}: {count} checks, {len(found)} complaints")
            print("\n".join(found), end="\n" if found else "", flush=True)
            wrong += len(found)
    print(f"{len(wanted)} kernel{'s' * (len(wanted) != 1)}, {wrong} complaints")
    return 3 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
