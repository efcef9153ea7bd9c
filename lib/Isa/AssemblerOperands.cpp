//===- AssemblerOperands.cpp - accesses, sums, predicates -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "AssemblerImpl.h"
#include "Text.h"

using namespace facet;
using llvm::StringRef;
using llvm::Twine;

/// NUMBER, NUMBER*i0, i0, NUMBER*r0, r0
bool Assembler::term(Sum &result, int64_t sign) {
  uint64_t size = 1;
  bool haveNumber = lexer.takeInteger(size);
  if (size > uint64_t(1) << 62)
    return fail("a number beyond 2^62");
  int64_t value = sign * int64_t(size);
  auto add = [&](int64_t &into) {
    if (__builtin_add_overflow(into, value, &into))
      return fail("the sum leaves 64 bits");
    return true;
  };
  if (haveNumber && !lexer.take("*"))
    return add(result.form.base);
  std::string word;
  unsigned index;
  if (!name(word, "a number, i0 to i7 or r0 to r15"))
    return false;
  if (number(word, 'i', maxLoops, index))
    return add(result.form.coefficients[index]);
  if (number(word, 'r', numRings, index)) {
    if (result.form.ring >= 0 && result.form.ring != int(index))
      return failName("an address uses one ring");
    result.form.ring = int(index);
    return add(result.form.slotStride);
  }
  return failName("want a number, i0 to i7 or r0 to r15, found '" + word + "'");
}

bool Assembler::sum(Sum &result) {
  int64_t sign = lexer.take("-") ? -1 : 1;
  if (!term(result, sign))
    return false;
  for (;;) {
    if (lexer.take("+"))
      sign = 1;
    else if (lexer.take("-"))
      sign = -1;
    else
      return true;
    if (!term(result, sign))
      return false;
  }
}

/// `, COUNT` or `, COUNT@STEP`, outermost first.
bool Assembler::dimensions(Access &a) {
  bool given[maxDims] = {};
  while (lexer.take(",")) {
    if (a.rank == maxDims)
      return fail("more than " + Twine(maxDims) + " dimensions");
    int64_t count, step = 0;
    if (!integer(count, 1, UINT32_MAX, "a number of elements"))
      return false;
    if (lexer.take("@")) {
      if (!integer(step, INT64_MIN / 4, INT64_MAX / 4, "a step"))
        return false;
      given[a.rank] = true;
    }
    a.count[a.rank] = uint32_t(count);
    a.step[a.rank] = step;
    ++a.rank;
  }
  __int128 dense = 1;
  for (unsigned d = a.rank; d-- > 0;) {
    dense *= a.count[d];
    if (dense > (__int128(1) << 40))
      return fail("more than 2^40 elements in a row");
  }
  for (unsigned d = 0; d != a.rank; ++d)
    if (!given[d])
      a.step[d] = text::denseStep(a, d);
  return true;
}

bool Assembler::access(Access &a) {
  std::string word;
  if (!name(word, "an operand, as sbuf.bf16[0:128, 0, 512]"))
    return false;
  auto [space, type] = StringRef(word).split('.');
  std::vector<StringRef> spaces, types;
  bool found = false;
  for (Space s : {Space::Sbuf, Space::Psum, Space::Hbm, Space::Index}) {
    spaces.push_back(spaceName(s));
    if (space == spaces.back()) {
      a.space = s;
      found = true;
    }
  }
  if (!found)
    return unknown(space, "memory", spaces);
  found = false;
  for (unsigned t = 0; t != numDTypes; ++t) {
    types.push_back(dtypeName(DType(t)));
    if (type == types.back()) {
      a.dtype = DType(t);
      found = true;
    }
  }
  if (!found)
    return unknown(type, "element type", types);
  if (!expect("["))
    return false;
  int64_t first, last;
  bool rowStepGiven = false;
  if (a.space == Space::Sbuf || a.space == Space::Psum) {
    if (!integer(first, 0, 65535, "the first partition") || !expect(":") ||
        !integer(last, first + 1, 65536, "one past the last partition"))
      return false;
    a.partition = uint16_t(first);
    a.partitions = uint32_t(last - first);
  } else {
    if (a.space == Space::Hbm) {
      std::string buffer;
      if (!name(buffer, "a buffer"))
        return false;
      auto at = bufferNames.find(buffer);
      if (at == bufferNames.end()) {
        std::vector<StringRef> names;
        for (const Buffer &b : program.buffers)
          names.push_back(b.name);
        return unknown(buffer, "buffer", names);
      }
      a.buffer = at->second;
      if (!expect(","))
        return false;
    }
    if (!integer(first, 1, UINT32_MAX, "a number of rows"))
      return false;
    a.partitions = uint32_t(first);
    if (lexer.take("@")) {
      if (!integer(a.rowStep, INT64_MIN / 4, INT64_MAX / 4, "a row step"))
        return false;
      rowStepGiven = true;
    }
  }
  Sum address;
  if (!expect(",") || !sum(address) || !dimensions(a) || !expect("]"))
    return false;
  if (!rowStepGiven)
    a.rowStep = text::denseRowStep(a);
  a.offset = address.form.base;
  address.form.base = 0;
  if (!address.isConstant())
    a.affine = builder.affine(address.form);
  return true;
}

/// if(SUM == 0, SUM >= 0, ...)
bool Assembler::predicate(uint16_t &result) {
  if (result)
    return fail("a second if; list the conditions in one");
  if (!expect("("))
    return false;
  Predicate p;
  do {
    Sum left;
    if (!sum(left))
      return false;
    unsigned c = 0;
    for (; c != 6; ++c)
      if (lexer.take(text::compares[c]))
        break;
    if (c == 6)
      return fail("want == != < <= > >= here, found " + lexer.found());
    int64_t zero;
    if (!integer(zero, 0, 0, "the right side of a condition"))
      return false;
    if (p.conditions == 4)
      return fail("more than 4 conditions");
    p.forms[p.conditions] = builder.affine(left.form) - 1;
    p.compares[p.conditions++] = Predicate::Compare(c);
  } while (lexer.take(","));
  if (!expect(")"))
    return false;
  result = builder.predicate(p);
  return true;
}
