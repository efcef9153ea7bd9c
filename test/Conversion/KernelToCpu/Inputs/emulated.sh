#!/bin/sh
# emulated.sh FACET CLANG KERNELS LIBRARY [TARGETS]: the object that FACET makes for sapphirerapids, as a library
# whose tile registers are those of tile-registers.c. What asks the CPU and the system becomes
# ud2 and a byte; all else is assembled as it is.
set -e
"$1" compile "$3" --target="${5:-sapphirerapids}" --emit=asm -o "$4.s"
sed -i -e 's/^\tcpuid$/\t.byte 0x0f, 0x0b, 1/' -e 's/^\txgetbv$/\t.byte 0x0f, 0x0b, 2/' -e 's/^\tsyscall$/\t.byte 0x0f, 0x0b, 3/' "$4.s"
"$2" -shared -fPIC -O2 -mfma "$(dirname "$0")/tile-registers.c" "$4.s" -o "$4" -lm
