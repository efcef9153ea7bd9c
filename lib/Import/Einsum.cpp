//===- Einsum.cpp - a kernel from a formula of einsum ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   bij,bjk:bf16->bik    becomes
//
//   kernel einsum(x0: f32[B, I, J], x1: bf16[B, J, K]) -> y: f32[B, I, K] {
//     y[b, i, k] = sum[j](x0[b, i, j] * x1[b, j, k])
//   }
//
// A letter is an index, and in capitals the size it runs over, so that two axes of one
// letter have one size. A capital letter is another index than the small one: `B` gives
// the index `b_` and the size `B_`.
//
// NumPy's einsum gives the type of its operands; so do floats here, rounded once at the
// end. Integers are summed in i32, where NumPy would wrap in i8.
//
//===----------------------------------------------------------------------===//

#include "facet/Frontend/CheckedKernel.h"
#include "facet/Frontend/Frontend.h"
#include "facet/Import/Import.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace facet;

namespace {

/// An operand or the result: its letters, and the element type when one is given.
struct Term {
  std::string letters;
  std::vector<unsigned> columns; ///< of each letter, 1-based
  std::optional<ScalarType> type;
  bool isConst = false;
  unsigned column = 0; ///< where the term begins
  unsigned typeColumn = 0;
};

class Formula {
public:
  Formula(StringRef file, StringRef text, Diagnostics &diagnostics)
      : file(file), text(text), diagnostics(diagnostics) {}

  bool parse();
  bool check();
  std::string kernel() const;

private:
  Diagnostic &error(unsigned column, const Twine &message) {
    return diagnostics.error({file.str(), 1, column}, message);
  }
  bool parseTerm(size_t begin, size_t end, Term &term);
  void inferResult();
  bool checkTypes();

  StringRef file, text;
  Diagnostics &diagnostics;
  std::vector<Term> operands;
  Term result;
  bool resultGiven = false;
};

} // namespace

/// The types of arrays: all but tf32, which is a rounding.
static std::vector<StringRef> storageTypes() {
  std::vector<StringRef> names;
  for (auto type = uint8_t(ScalarType::Bool); type != uint8_t(ScalarType::TF32);
       ++type)
    names.push_back(spelling(ScalarType(type)));
  return names;
}

/// The name of the index of `letter`; a capital letter's has an underscore.
static std::string indexOf(char letter) {
  return isUpper(letter) ? std::string{toLower(letter), '_'}
                         : std::string(1, letter);
}

static std::string sizeOf(char letter) {
  return isUpper(letter) ? std::string{letter, '_'}
                         : std::string(1, toUpper(letter));
}

/// "[b, i]" of "bi"; nothing for no letter.
static std::string brackets(StringRef letters,
                            std::string (*name)(char letter)) {
  if (letters.empty())
    return "";
  std::string list;
  for (char letter : letters)
    list += (list.empty() ? "" : ", ") + name(letter);
  return "[" + list + "]";
}

bool Formula::parseTerm(size_t begin, size_t end, Term &term) {
  term.column = begin + 1;
  size_t colon = text.slice(0, end).find(':', begin);
  for (size_t at = begin; at < std::min(colon, end); ++at) {
    char c = text[at];
    if (c == ' ')
      continue;
    if (c == '.') {
      error(at + 1, "nothing here says how many axes '...' stands for; write a "
                    "letter for each");
      return false;
    }
    if (!isAlpha(c)) {
      error(at + 1, "a letter is needed here, found '" + Twine(c) + "'");
      return false;
    }
    term.letters += c;
    term.columns.push_back(at + 1);
  }
  if (colon >= end)
    return true;

  StringRef type = text.slice(colon + 1, end).trim();
  term.typeColumn = type.data() - text.data() + 1;
  if (type.consume_front("const "))
    term.isConst = true;
  type = type.trim();
  term.type = typeByName(type);
  if (!term.type || *term.type == ScalarType::TF32) {
    error(term.typeColumn, "'" + type + "' is no element type; there are " +
                               join(storageTypes(), " "));
    return false;
  }
  return true;
}

bool Formula::parse() {
  for (size_t at = 0; at != text.size(); ++at)
    if (!isPrint(text[at])) {
      error(at + 1, "a formula is one line of ASCII");
      return false;
    }
  size_t arrow = text.find("->");
  size_t end = std::min(arrow, text.size());
  for (size_t begin = 0;;) {
    size_t comma = std::min(text.find(',', begin), end);
    if (!parseTerm(begin, comma, operands.emplace_back()))
      return false;
    if (comma == end)
      break;
    begin = comma + 1;
  }
  resultGiven = arrow != StringRef::npos;
  if (!resultGiven) {
    inferResult();
    return true;
  }
  if (!parseTerm(arrow + 2, text.size(), result))
    return false;
  if (result.isConst) {
    error(result.typeColumn, "a result cannot be const");
    return false;
  }
  return true;
}

void Formula::inferResult() {
  std::string all;
  for (const Term &operand : operands)
    all += operand.letters;
  sort(all);
  for (char letter : all)
    if (StringRef(all).count(letter) == 1)
      result.letters += letter;
}

bool Formula::checkTypes() {
  bool floats = false, integers = false, wide = false;
  std::optional<ScalarType> common = operands.front().type;
  for (Term &operand : operands) {
    if (!operand.type)
      operand.type = ScalarType::F32;
    if (*operand.type == ScalarType::Bool) {
      error(operand.typeColumn, "bool has no product; take i8");
      return false;
    }
    (isFloat(*operand.type) ? floats : integers) = true;
    wide |= bitWidth(*operand.type) == 64;
    if (common != operand.type)
      common = std::nullopt;
    if (floats && integers) {
      error(operand.typeColumn ? operand.typeColumn : operand.column,
            "integers and floats do not mix; x0 is " +
                spelling(*operands.front().type) + ", this is " +
                spelling(*operand.type));
      return false;
    }
  }
  ScalarType sum = floats ? (wide ? ScalarType::F64 : ScalarType::F32)
                          : (wide ? ScalarType::I64 : ScalarType::I32);
  if (!result.type) {
    result.type = floats && common ? *common : sum;
    return true;
  }
  bool holds = floats ? isFloat(*result.type)
                      : isInteger(*result.type) &&
                            bitWidth(*result.type) >= bitWidth(sum);
  if (!holds)
    error(result.typeColumn, "the sum is " + spelling(sum) + ", which " +
                                 spelling(*result.type) + " does not hold");
  return holds;
}

bool Formula::check() {
  for (size_t i = 0; i != result.letters.size(); ++i) {
    char letter = result.letters[i];
    unsigned column = resultGiven ? result.columns[i] : 1;
    if (none_of(operands, [&](const Term &operand) {
          return StringRef(operand.letters).contains(letter);
        })) {
      error(column, "no operand has an axis '" + Twine(letter) +
                        "', so nothing says how long it is");
      return false;
    }
    if (StringRef(result.letters).take_front(i).contains(letter)) {
      error(column, "the result has the axis '" + Twine(letter) + "' twice");
      return false;
    }
  }
  for (auto [i, operand] : enumerate(operands))
    if (operand.isConst && operand.letters.empty()) {
      error(operand.typeColumn, "x" + Twine(i) +
                                    " has no axis; arrays alone "
                                    "are const");
      return false;
    }
  return checkTypes();
}

std::string Formula::kernel() const {
  std::string y = StringRef(result.letters).contains('y') ? "y0" : "y";
  std::string parameters, product, summed;
  for (auto [i, operand] : enumerate(operands)) {
    std::string name = "x" + std::to_string(i);
    parameters +=
        (i ? ", " : "") + name + ": " + (operand.isConst ? "const " : "") +
        spelling(*operand.type).str() + brackets(operand.letters, sizeOf);
    product += (i ? " * " : "") + name + brackets(operand.letters, indexOf);
    for (char letter : operand.letters)
      if (!StringRef(result.letters).contains(letter) &&
          !StringRef(summed).contains(letter))
        summed += letter;
  }
  if (!summed.empty())
    product = "sum" + brackets(summed, indexOf) + "(" + product + ")";
  return "/// einsum(\"" + text.str() + "\")\nkernel einsum(" + parameters +
         ") -> " + y + ": " + spelling(*result.type).str() +
         brackets(result.letters, sizeOf) + " {\n  " + y +
         brackets(result.letters, indexOf) + " = " + product + "\n}\n";
}

std::optional<std::string> facet::importEinsum(StringRef file,
                                               StringRef formula,
                                               Diagnostics &diagnostics) {
  StringRef text = diagnostics.addBuffer(file, formula.str());
  Formula parsed(file, text, diagnostics);
  if (!parsed.parse() || !parsed.check())
    return std::nullopt;
  return formatSource(file, parsed.kernel(), diagnostics);
}
