//===- Npy.h - .npy files of a program's buffers --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_TOOLS_FACET_SIM_NPY_H
#define FACET_TOOLS_FACET_SIM_NPY_H

#include "facet/Isa/Program.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace facet::sim {

/// The bytes of a buffer from a `.npy` file's contents, of the buffer's shape. bf16 and f8 as ml_dtypes stores them or as unsigned
/// integers of their size. Bytes that no element of the buffer covers are 0.
llvm::Expected<std::vector<uint8_t>> readBuffer(llvm::StringRef contents,
                                                const Buffer &buffer);

/// Writes a buffer's elements as a `.npy` file; bf16 and f8 as void types of their
/// size, as ml_dtypes stores them.
void writeBuffer(llvm::raw_ostream &os, llvm::ArrayRef<uint8_t> bytes,
                 const Buffer &buffer);

} // namespace facet::sim

#endif // FACET_TOOLS_FACET_SIM_NPY_H
