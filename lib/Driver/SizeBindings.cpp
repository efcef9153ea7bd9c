//===- SizeBindings.cpp - `-D M=1,16,*` -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   -D M=1,16,*     M = 1 and M = 16 get code of their own, other M the general code
//   -D K=4096       K is 4096; the kernel's name and prototype stay as they are
//
// Order and repetition of values mean nothing, so they are sorted here: the same
// request gives the same bytes.
//
//===----------------------------------------------------------------------===//

#include "facet/Driver/SizeBindings.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace facet;

bool facet::isSizeName(StringRef text) {
  return !text.empty() && text.front() >= 'A' && text.front() <= 'Z' &&
         all_of(text, [](char c) { return isAlnum(c) || c == '_'; });
}

std::vector<SizeBinding>
facet::parseSizeBindings(ArrayRef<std::string> arguments,
                         Diagnostics &diagnostics) {
  std::vector<SizeBinding> bindings;
  for (StringRef argument : arguments) {
    auto [name, list] = argument.split('=');
    if (!argument.contains('=') || list.empty()) {
      diagnostics.error({}, "'-D " + argument +
                                "' has no value; write -D M=16 or -D M=1,16,*");
      continue;
    }
    if (!isSizeName(name)) {
      diagnostics.error({}, "'-D " + argument + "': '" + name +
                                "' is no size; sizes begin with a capital");
      continue;
    }
    if (any_of(bindings, [&, name = name](const SizeBinding &b) {
          return b.name == name;
        })) {
      diagnostics.error({}, "'-D " + argument + "': " + name +
                                " has values already; give all in one list");
      continue;
    }
    SizeBinding binding;
    binding.name = name.str();
    SmallVector<StringRef> parts;
    list.split(parts, ',');
    bool good = true;
    for (StringRef part : parts) {
      int64_t value;
      if (part == "*") {
        binding.general = true;
      } else if (!part.getAsInteger(10, value) && value >= 0) {
        binding.values.push_back(value);
      } else {
        diagnostics.error({}, "'-D " + argument + "': '" + part +
                                  "' is neither a number from 0 on nor '*'");
        good = false;
      }
    }
    if (!good)
      continue;
    llvm::sort(binding.values);
    binding.values.erase(llvm::unique(binding.values), binding.values.end());
    bindings.push_back(std::move(binding));
  }
  return bindings;
}
