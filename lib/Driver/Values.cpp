//===- Values.cpp - what arguments are filled with ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   x=x.npy   w=random   w=random:seed=7   b=zeros   i=iota   eps=1e-5   b=none
//
// Random values are the same on every machine. Integers that are subscripts stay in
// range, since a random kernel call should run and not be refused.
//
//===----------------------------------------------------------------------===//

#include "Values.h"

#include "facet/Driver/CommandLine.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <unistd.h>

using namespace llvm;
using namespace facet;

uint64_t Random::next() {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

std::pair<int64_t, int64_t> facet::rangeOf(ScalarType type) {
  if (type == ScalarType::Bool)
    return {0, 1};
  unsigned bits = bitWidth(type);
  if (type == ScalarType::U8 || type == ScalarType::U4)
    return {0, (int64_t(1) << bits) - 1};
  return {minIntN(bits), maxIntN(bits)};
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

std::optional<ValueSource> facet::parseValue(StringRef name, StringRef text,
                                             Diagnostics &diagnostics) {
  ValueSource source;
  StringRef word = text;
  if (word.consume_front("random")) {
    source.kind = ValueSource::Random;
    if (word.empty())
      return source;
    uint64_t seed;
    if (word.consume_front(":seed=") && !word.getAsInteger(10, seed)) {
      source.seed = seed;
      return source;
    }
    diagnostics.error({}, "'" + name + "=" + text +
                              "': write random or random:seed=NUMBER");
    return std::nullopt;
  }
  static constexpr std::pair<StringLiteral, ValueSource::Kind> words[] = {
      {"zeros", ValueSource::Zeros},
      {"iota", ValueSource::Iota},
      {"none", ValueSource::None}};
  for (auto [spelling, kind] : words)
    if (text == spelling) {
      source.kind = kind;
      return source;
    }
  if (text.ends_with(".npy")) {
    source.kind = ValueSource::File;
    source.file = text.str();
    return source;
  }
  source.kind = ValueSource::Number;
  if (text == "true" || text == "false") {
    source.integer = text == "true";
    source.number = double(source.integer);
    source.isInteger = true;
    return source;
  }
  if (!text.getAsInteger(10, source.integer)) {
    source.number = double(source.integer);
    source.isInteger = true;
    return source;
  }
  if (!text.getAsDouble(source.number))
    return source;
  diagnostics.error({}, "'" + name + "=" + text +
                            "': a value is FILE.npy, random, zeros, iota, none "
                            "or a number" +
                            didYouMean(text, {"random", "zeros", "iota", "none",
                                              "true", "false"}));
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Filling
//===----------------------------------------------------------------------===//

static uint64_t physicalMemory() {
  long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && size > 0 ? uint64_t(pages) * uint64_t(size) : UINT64_MAX;
}

std::optional<Array> facet::allocate(const HostKernel &kernel,
                                     const HostParam &param,
                                     const SizeValues &sizes,
                                     Diagnostics &diagnostics) {
  Array array;
  array.type = param.type;
  std::optional<SmallVector<int64_t, 4>> shape = kernel.shape(param, sizes);
  std::optional<uint64_t> bytes;
  if (shape) {
    array.shape = *shape;
    bytes = bytesOf(param.type, array.shape);
    // A lone 4-bit element is a low nibble.
    if (shape->empty() && bitWidth(param.type) == 4)
      bytes = 1;
    else if (!bytes && bitWidth(param.type) == 4 && shape->back() % 2) {
      diagnostics.error({}, "the last axis of '" + param.name + "' is " +
                                Twine(shape->back()) + "; " +
                                spelling(param.type) + " needs an even one");
      return std::nullopt;
    }
  }
  // Asking for more than there is would end the program, or another one.
  if (!bytes || *bytes > physicalMemory()) {
    diagnostics.error({},
                      "'" + param.name + "' of shape " +
                          (shape ? shapeText(*shape) : kernel.axesText(param)) +
                          " is larger than memory");
    return std::nullopt;
  }
  array.bytes.resize(*bytes);
  return array;
}

std::optional<int64_t> facet::indexBound(const HostKernel &kernel,
                                         const HostParam &param,
                                         const SizeValues &sizes) {
  std::optional<int64_t> bound;
  for (const HostDim &dim : param.indexBelow) {
    int64_t extent = kernel.extent(dim, sizes);
    bound = bound ? std::min(*bound, extent) : extent;
  }
  return bound;
}

void facet::fillRandom(Array &array, const HostKernel &kernel,
                       const HostParam &param, const SizeValues &sizes,
                       Random &random) {
  int64_t count = array.count();
  if (isFloat(param.type)) {
    for (int64_t i = 0; i < count; ++i)
      setElement(array, i, random.signedUnit());
    return;
  }
  auto [low, high] = rangeOf(param.type);
  if (bitWidth(param.type) > 16) {
    low = -100;
    high = 100;
  }
  if (std::optional<int64_t> bound = indexBound(kernel, param, sizes)) {
    low = 0;
    high =
        std::min(rangeOf(param.type).second, std::max<int64_t>(*bound - 1, 0));
  }
  for (int64_t i = 0; i < count; ++i)
    setElement(array, i,
               int64_t(low + int64_t(random.below(uint64_t(high - low) + 1))));
}

/// Whether the number of `source` is one of `type`; an error otherwise.
static bool fits(const ValueSource &source, const HostParam &param,
                 Diagnostics &diagnostics) {
  if (isFloat(param.type))
    return true;
  auto [low, high] = rangeOf(param.type);
  if (source.isInteger && source.integer >= low && source.integer <= high)
    return true;
  std::string found = source.isInteger ? std::to_string(source.integer)
                                       : formatv("{0}", source.number).str();
  diagnostics.error({}, "'" + param.name + "' is " + spelling(param.type) +
                            ", from " + Twine(low) + " to " + Twine(high) +
                            "; found " + found);
  return false;
}

bool facet::fill(Array &array, const ValueSource &source,
                 const HostKernel &kernel, const HostParam &param,
                 const SizeValues &sizes, Random &random,
                 Diagnostics &diagnostics) {
  int64_t count = array.count();
  switch (source.kind) {
  case ValueSource::Random: {
    facet::Random own(source.seed.value_or(0));
    fillRandom(array, kernel, param, sizes, source.seed ? own : random);
    return true;
  }
  case ValueSource::Iota:
    // Narrow integers count modulo their width, bool to 1.
    for (int64_t i = 0; i < count; ++i)
      setElement(array, i, param.type == ScalarType::Bool ? i % 2 : i);
    return true;
  case ValueSource::Number:
    if (!fits(source, param, diagnostics))
      return false;
    for (int64_t i = 0; i < count; ++i) {
      if (isFloat(param.type))
        setElement(array, i, source.number);
      else
        setElement(array, i, source.integer);
    }
    return true;
  case ValueSource::Zeros:
  case ValueSource::None:
    return true; // as allocated
  case ValueSource::File:
    break;
  }
  return false;
}
