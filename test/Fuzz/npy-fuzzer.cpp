//===- npy-fuzzer.cpp - any bytes as a NumPy file -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whatever type the array is wanted in, what is read writes and reads back as the
// same array.
//
//===----------------------------------------------------------------------===//

#include "Promise.h"

#include "facet/Driver/Array.h"

using namespace facet;

static void readAs(ScalarType type, llvm::StringRef contents) {
  llvm::Expected<Array> array = readNpy(contents, type);
  if (!array)
    return llvm::consumeError(array.takeError());
  llvm::Expected<Array> again = readNpy(writeNpy(*array), type);
  promise(bool(again), "a written array does not read");
  promise(again->shape == array->shape && again->bytes == array->bytes,
          "an array changed on its way through a file");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef contents(reinterpret_cast<const char *>(data), size);
  for (unsigned type = 0; type < unsigned(ScalarType::TF32); ++type)
    readAs(ScalarType(type), contents);
  return 0;
}
