//===- Words.cpp - the reserved words of the language ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One table per kind of word, `bf16` ↦ (Type, BF16), so that a new function or
// type is one line here. Lookup is by hash: the lexer asks for every name.
//
//===----------------------------------------------------------------------===//

#include "Words.h"
#include "llvm/ADT/StringMap.h"

using namespace facet;
using llvm::StringLiteral;
using llvm::StringRef;

static constexpr StringLiteral keywords[] = {
    "import", "fn",    "kernel", "requires", "let", "schedule", "on",
    "when",   "inout", "const",  "inf",      "nan", "true",     "false"};

static constexpr StringLiteral types[] = {
    "bool",     "i32",    "i64", "f32", "f64", "f16", "bf16", "f8e4m3",
    "f8e4m3fn", "f8e5m2", "i16", "i8",  "u8",  "i4",  "u4",   "tf32"};

static constexpr StringLiteral reductions[] = {
    "sum", "max", "min", "mean", "any", "all", "argmax", "argmin", "softmax"};

// Those of one operand first, in the order of the enumeration.
static constexpr StringLiteral functions[] = {
    "abs",     "exp",   "log",  "sqrt",      "rsqrt", "tanh",
    "sigmoid", "relu",  "gelu", "gelu_tanh", "silu",  "erf",
    "round",   "floor", "ceil", "clamp",     "where"};

static constexpr auto firstFunction =
    static_cast<unsigned>(checked::UnaryOp::Abs);
static constexpr auto lastFunction =
    static_cast<unsigned>(checked::UnaryOp::Ceil);

static constexpr StringLiteral laterWords[] = {
    "for", "if", "else", "type", "scan", "scatter", "f4e2m1", "f8e8m0"};

llvm::ArrayRef<StringLiteral> facet::words(WordKind kind) {
  switch (kind) {
  case WordKind::Keyword:
    return keywords;
  case WordKind::Type:
    return types;
  case WordKind::Reduction:
    return reductions;
  case WordKind::Function:
    return functions;
  case WordKind::Later:
    return laterWords;
  }
  return {};
}

bool facet::isReserved(StringRef name) { return wordKind(name).has_value(); }

std::optional<WordKind> facet::wordKind(StringRef text) {
  static const llvm::StringMap<WordKind> table = [] {
    llvm::StringMap<WordKind> map;
    for (WordKind kind :
         {WordKind::Keyword, WordKind::Type, WordKind::Reduction,
          WordKind::Function, WordKind::Later})
      for (StringRef word : words(kind))
        map[word] = kind;
    return map;
  }();
  auto found = table.find(text);
  if (found == table.end())
    return std::nullopt;
  return found->second;
}

std::optional<ScalarType> facet::typeByName(StringRef text) {
  // `types` is in the order of the enumeration.
  for (auto [i, word] : llvm::enumerate(types))
    if (word == text)
      return static_cast<ScalarType>(i);
  return std::nullopt;
}

std::optional<checked::UnaryOp> facet::unaryByName(StringRef text) {
  for (unsigned op = firstFunction; op <= lastFunction; ++op)
    if (functions[op - firstFunction] == text)
      return static_cast<checked::UnaryOp>(op);
  return std::nullopt;
}

StringRef facet::spelling(checked::UnaryOp op) {
  if (op == checked::UnaryOp::Neg)
    return "-";
  if (op == checked::UnaryOp::Not)
    return "!";
  return functions[static_cast<unsigned>(op) - firstFunction];
}

StringRef facet::insteadOf(StringRef word) {
  if (word == "for")
    return "loops are implied: an index on the left runs over its whole axis, "
           "`sum[k](…)` runs inside";
  if (word == "if" || word == "else")
    return "choose values with `where(condition, a, b)`, leave terms out with "
           "a filter `sum[k | condition](…)`";
  if (word == "type")
    return "write the element type of each argument out, `x: f32[M, K]`";
  if (word == "scan")
    return "a prefix sum is a filtered sum, `sum[j | j <= i](x[j])`";
  if (word == "scatter")
    return "gather on the right, `y[t] = x[id[t]]`, or sum where the numbers "
           "agree, `sum[t | id[t] == i](x[t])`";
  // f4e2m1, f8e8m0
  return "MX formats come later; keep 4-bit codes as `u4` with a table and a "
         "scale argument of type f32";
}

std::string facet::nearest(StringRef name,
                           llvm::ArrayRef<StringRef> candidates) {
  // A third of the name may differ: `softmx` finds `softmax`, `q` finds none.
  if (name.size() < 2)
    return "";
  unsigned most = name.size() < 4 ? 1 : (name.size() + 2) / 3;
  // Of equally near ones the longest common beginning wins.
  auto likeness = [&](StringRef candidate, unsigned distance) {
    size_t common = 0;
    while (common < std::min(name.size(), candidate.size()) &&
           name[common] == candidate[common])
      ++common;
    return std::make_pair(-static_cast<int>(distance), common);
  };
  StringRef found;
  std::pair<int, size_t> best;
  for (StringRef candidate : candidates) {
    unsigned distance = name.edit_distance(candidate, true, most + 1);
    if (distance > most || distance >= candidate.size())
      continue;
    if (found.empty() || likeness(candidate, distance) > best) {
      best = likeness(candidate, distance);
      found = candidate;
    }
  }
  return found.str();
}
