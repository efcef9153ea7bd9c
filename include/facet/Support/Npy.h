//===- Npy.h - NumPy's file format ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One dense array per file, its element type named by a code: "f4", "i2", "V2"
// (what ml_dtypes stores bf16 as). Which codes stand for which type is up to those
// who have types: the driver's arrays, the simulator's buffers.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_SUPPORT_NPY_H
#define FACET_SUPPORT_NPY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace facet {

/// What a file holds, row-major and little-endian whatever the file has.
struct NpyArray {
  /// Without byte order: "f4".
  std::string code;
  llvm::SmallVector<int64_t, 4> shape;
  std::vector<uint8_t> bytes;
};

/// Reads a `.npy` file's `contents`: versions 1.0 to 3.0, C and Fortran order,
/// either byte order. `codes` are the element types accepted, of `size` bytes
/// each, for what the user calls `type`; the first is named in messages. An error
/// says what the file holds: "it holds float32 ('<f4'); i32 needs int32 ('i4')".
llvm::Expected<NpyArray> readNpy(llvm::StringRef contents,
                                 llvm::ArrayRef<llvm::StringRef> codes,
                                 size_t size, llvm::StringRef type);

/// What stands before the row-major little-endian bytes in a file, version 1.0.
std::string npyHeader(llvm::StringRef code, llvm::ArrayRef<int64_t> shape);

/// A whole file.
std::string writeNpy(llvm::StringRef code, llvm::ArrayRef<int64_t> shape,
                     llvm::ArrayRef<uint8_t> bytes);

/// Bytes of a dense array of elements of `bits`; nothing when the number does not
/// fit 63 bits or an extent is negative.
std::optional<uint64_t> denseBytes(unsigned bits,
                                   llvm::ArrayRef<int64_t> shape);

/// `(3, 4)`, `(3)`, `()`.
std::string shapeText(llvm::ArrayRef<int64_t> shape);

} // namespace facet

#endif // FACET_SUPPORT_NPY_H
