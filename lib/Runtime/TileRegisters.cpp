//===- TileRegisters.cpp - may this process use tile registers? -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TileRegisters.h"

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

bool facet::requestTileRegisters() {
#if defined(__linux__) && defined(__x86_64__)
  constexpr long requestPermission = 0x1023, tileData = 18; // asm/prctl.h
  return syscall(SYS_arch_prctl, requestPermission, tileData) == 0;
#else
  return false;
#endif
}
