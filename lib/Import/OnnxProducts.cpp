//===- OnnxProducts.cpp - matrix products ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   MatMul(a, b)         ↦  sum[k](a[i, m, k] * b[k, n])
//   Gemm(a, b, c)        ↦  alpha * sum[k](a[k, m] * b[n, k]) + beta * c[n]
//   MatMulInteger        ↦  sum[k]((a[m, k] - za) * (b[k, n] - zb))
//   Einsum("bhd,…")      ↦  sum over the letters that the result lacks
//
// An operand that is work to compute becomes a `let` first: inside the sum it would be
// computed once for every row or column.
//
//===----------------------------------------------------------------------===//

#include "Onnx.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace facet;
using namespace facet::import;

namespace {

/// Two operands as stacks of matrices: the axes of the product and how to read both.
struct Stacks {
  std::vector<std::string> axes; ///< of the result
  std::string depth;
  std::function<Text(const Subscripts &result, const std::string &k)> a, b;
};

} // namespace

/// NumPy's matmul: one axis is a row or a column, the axes before the last two stretch.
static std::optional<Stacks> stacksOf(const Node &node, const Value &a,
                                      const Value &b) {
  size_t ra = a.axes.size(), rb = b.axes.size();
  if (!ra || !rb) {
    node.refuse("operands with axes are needed");
    return std::nullopt;
  }
  bool row = ra == 1, column = rb == 1;
  Stacks stacks;
  stacks.depth = a.axes[ra - 1];
  const std::string &other = b.axes[column ? 0 : rb - 2];
  if (stacks.depth != other) {
    node.refuse("the sum runs over " + stacks.depth +
                " in the first operand and over " + other + " in the second");
    return std::nullopt;
  }
  Value stackA = a, stackB = b;
  stackA.axes.resize(row ? 0 : ra - 2);
  stackB.axes.resize(column ? 0 : rb - 2);
  stacks.axes = stretched(node, {stackA, stackB});
  size_t batch = stacks.axes.size();
  if (!row)
    stacks.axes.push_back(a.axes[ra - 2]);
  if (!column)
    stacks.axes.push_back(b.axes[rb - 1]);
  stacks.a = [=](const Subscripts &result, const std::string &k) {
    Subscripts own =
        seenBy(stackA, Subscripts(result.begin(), result.begin() + batch));
    if (!row)
      own.push_back(result[batch]);
    own.push_back(k);
    return a.at(own);
  };
  stacks.b = [=](const Subscripts &result, const std::string &k) {
    Subscripts own =
        seenBy(stackB, Subscripts(result.begin(), result.begin() + batch));
    own.push_back(k);
    if (!column)
      own.push_back(result.back());
    return b.at(own);
  };
  return stacks;
}

static Value product(const Node &node) {
  Value a = node.kernel().keep(node.operand(0), "left"),
        b = node.kernel().keep(node.operand(1), "right");
  if (a.type != b.type || a.type == ScalarType::Bool)
    return node.refuse("its operands are " + spelling(a.type) + " and " +
                       spelling(b.type));
  std::optional<Stacks> stacks = stacksOf(node, a, b);
  if (!stacks)
    return {};
  KernelText &kernel = node.kernel();
  return make(
      a.type, stacks->axes,
      [&kernel, s = *stacks](const Subscripts &subscripts) {
        return kernel.reduce("sum", {s.depth}, [&](const Subscripts &k) {
          return binary("*", s.a(subscripts, k[0]), s.b(subscripts, k[0]));
        });
      });
}

static Value gemm(const Node &node) {
  KernelText &kernel = node.kernel();
  Value a = kernel.keep(node.operand(0), "left"),
        b = kernel.keep(node.operand(1), "right");
  if (a.axes.size() != 2 || b.axes.size() != 2)
    return node.refuse("matrices are needed");
  if (a.type != b.type || !isFloat(a.type))
    return node.refuse("floats of one type are needed, found " +
                       spelling(a.type) + " and " + spelling(b.type));
  bool ta = node.integer("transA", 0), tb = node.integer("transB", 0);
  std::string depth = a.axes[!ta], other = b.axes[tb];
  if (depth != other)
    return node.refuse("the sum runs over " + depth +
                       " in the first operand and over " + other +
                       " in the second");
  std::vector<std::string> axes = {a.axes[ta], b.axes[!tb]};
  std::string alpha = written(node.number("alpha", 1), a.type),
              beta = written(node.number("beta", 1), a.type);
  std::optional<Value> c;
  if (node.has(2)) {
    c = node.operand(2);
    Value whole = make(a.type, axes, nullptr);
    if (stretched(node, {whole, *c}) != axes && !node.refused())
      node.refuse("the third operand does not stretch to the product");
    if (c->type != a.type)
      node.refuse("the third operand is " + spelling(c->type) +
                  ", the product " + spelling(a.type));
  }
  return make(a.type, axes, [=, &kernel](const Subscripts &s) {
    Text sum = kernel.reduce("sum", {depth}, [&](const Subscripts &k) {
      return binary("*",
                    a.at(ta ? Subscripts{k[0], s[0]} : Subscripts{s[0], k[0]}),
                    b.at(tb ? Subscripts{s[1], k[0]} : Subscripts{k[0], s[1]}));
    });
    if (alpha != "1.0")
      sum = binary("*", number(alpha), sum);
    if (!c)
      return sum;
    Text more = c->at(seenBy(*c, s));
    return binary("+", sum,
                  beta == "1.0" ? more : binary("*", number(beta), more));
  });
}

/// The zero point of a quantised operand: one number, or one per row of a or column of b.
static std::function<Text(const Subscripts &)>
zeroPoint(const Node &node, size_t i, bool rows, const Stacks &stacks) {
  if (!node.has(i))
    return nullptr;
  Value zero = node.operand(i);
  bool one =
      all_of(zero.axes, [](const std::string &axis) { return axis == "1"; });
  size_t rank = zero.axes.size();
  if (one)
    return [zero, rank](const Subscripts &) {
      return zero.at(Subscripts(rank, "0"));
    };
  size_t place = stacks.axes.size() - (rows ? 2 : 1);
  if (rank != 1 || stacks.axes.size() < 2 ||
      zero.axes[0] != stacks.axes[place]) {
    node.refuse("a zero point of one number, or of one per row or column, is "
                "known here");
    return nullptr;
  }
  return [zero, place](const Subscripts &result) {
    return zero.at({result[place]});
  };
}

/// The exact sum of products of codes less their zero points, as i32.
static std::function<Text(const Subscripts &)>
integerSum(const Node &node, const Stacks &stacks, size_t zeroA, size_t zeroB) {
  auto za = zeroPoint(node, zeroA, true, stacks),
       zb = zeroPoint(node, zeroB, false, stacks);
  KernelText &kernel = node.kernel();
  return [=, &kernel](const Subscripts &result) {
    return kernel.reduce("sum", {stacks.depth}, [&](const Subscripts &k) {
      auto less = [&](Text code,
                      const std::function<Text(const Subscripts &)> &zero) {
        Text point = zero ? zero(result) : number("0");
        return point.text == "0" ? code : binary("-", code, point);
      };
      return binary("*", less(stacks.a(result, k[0]), za),
                    less(stacks.b(result, k[0]), zb));
    });
  };
}

static bool areCodes(const Node &node, const Value &a, const Value &b) {
  auto isCode = [](ScalarType type) {
    return type == ScalarType::I8 || type == ScalarType::U8;
  };
  if (isCode(a.type) && isCode(b.type))
    return true;
  node.refuse("int8 or uint8 is needed, found " + spelling(a.type) + " and " +
              spelling(b.type));
  return false;
}

static Value integerProduct(const Node &node) {
  Value a = node.kernel().keep(node.operand(0), "left"),
        b = node.kernel().keep(node.operand(1), "right");
  if (!areCodes(node, a, b))
    return {};
  std::optional<Stacks> stacks = stacksOf(node, a, b);
  if (!stacks)
    return {};
  return make(ScalarType::I32, stacks->axes, integerSum(node, *stacks, 2, 3));
}

/// a, its scale and zero point, b with the same, y with the same.
static Value quantisedProduct(const Node &node) {
  Value a = node.kernel().keep(node.operand(0), "left"),
        b = node.kernel().keep(node.operand(3), "right");
  if (!areCodes(node, a, b))
    return {};
  std::optional<Stacks> stacks = stacksOf(node, a, b);
  if (!stacks)
    return {};
  auto sum = integerSum(node, *stacks, 2, 5);
  auto sa = zeroPoint(node, 1, true, *stacks),
       sb = zeroPoint(node, 4, false, *stacks),
       sy = zeroPoint(node, 6, true, *stacks),
       zy = zeroPoint(node, 7, true, *stacks);
  if (node.refused())
    return {};
  ScalarType type = node.operand(7).type;
  if (type != ScalarType::I8 && type != ScalarType::U8)
    return node.refuse("the result is int8 or uint8, found " + spelling(type));
  Value y = make(type, stacks->axes, [=](const Subscripts &s) {
    Text scale = binary("/", binary("*", sa(s), sb(s)), sy(s));
    Text value =
        call("round", {binary("*", convert(ScalarType::F32, sum(s)), scale)});
    Text zero = zy(s);
    if (zero.text != "0")
      value = binary("+", value, convert(ScalarType::F32, zero));
    return call((spelling(type) + ".sat").str(), {value});
  });
  y.converts = false;
  return y;
}

//===----------------------------------------------------------------------===//
// Einsum
//===----------------------------------------------------------------------===//

namespace {

/// The letters of a term by axis; those of "..." are '0', '1', … from its last axis.
struct Term {
  std::string letters;
  bool dots = false;
  size_t dotsAt = 0;
};

} // namespace

static std::optional<Term> parseTerm(StringRef text) {
  Term term;
  while (!text.empty()) {
    if (text.consume_front(" "))
      continue;
    if (text.consume_front("...")) {
      if (term.dots)
        return std::nullopt;
      term.dots = true;
      term.dotsAt = term.letters.size();
    } else if (isAlpha(text[0])) {
      term.letters += text[0];
      text = text.drop_front();
    } else {
      return std::nullopt;
    }
  }
  return term;
}

/// Writes `count` letters for the dots.
static void expandDots(Term &term, size_t count) {
  std::string dots;
  for (size_t i = count; i-- > 0;)
    dots += char('0' + i);
  if (term.dots)
    term.letters.insert(term.dotsAt, dots);
}

static Value einsum(const Node &node) {
  std::string equation = node.text("equation", "");
  auto [left, right] = StringRef(equation).split("->");
  bool arrow = StringRef(equation).contains("->");
  SmallVector<StringRef> parts;
  left.split(parts, ',');
  if (parts.size() != node.operands())
    return node.refuse("'" + equation + "' has " + Twine(parts.size()) +
                       " operands, the node has " + Twine(node.operands()));
  std::vector<Value> values;
  std::vector<Term> terms;
  size_t most = 0;
  for (size_t i = 0; i != parts.size(); ++i) {
    std::optional<Term> term = parseTerm(parts[i]);
    if (!term || !node.has(i))
      return node.refuse("'" + equation + "' is no formula of einsum");
    values.push_back(node.kernel().keep(node.operand(i), "operand"));
    size_t rank = values[i].axes.size(), count = rank - term->letters.size();
    if (term->letters.size() > rank || (!term->dots && count) || count > 9)
      return node.refuse("operand " + Twine(i) + " of '" + equation + "' has " +
                         Twine(rank) + " axes");
    expandDots(*term, count);
    most = std::max(most, term->dots ? count : 0);
    terms.push_back(*term);
    if (values[i].type != values[0].type || values[i].type == ScalarType::Bool)
      return node.refuse("its operands are " + spelling(values[0].type) +
                         " and " + spelling(values[i].type));
  }
  Term result;
  if (arrow) {
    std::optional<Term> term = parseTerm(right);
    if (!term)
      return node.refuse("'" + equation + "' is no formula of einsum");
    result = *term;
    expandDots(result, most);
  } else {
    std::string all;
    for (const Term &term : terms)
      all += term.letters;
    sort(all);
    for (char letter : all)
      if (!isDigit(letter) && StringRef(all).count(letter) == 1)
        result.letters += letter;
    Term dots{"", true, 0};
    expandDots(dots, most);
    result.letters = dots.letters + result.letters;
  }
  // What each letter runs over: an axis of 1 stretches.
  std::map<char, std::string> extents;
  std::string summed;
  for (auto [term, value] : zip(terms, values))
    for (auto [letter, axis] : zip(term.letters, value.axes)) {
      std::string &extent = extents.try_emplace(letter, "1").first->second;
      if (extent == "1")
        extent = axis;
      else if (axis != extent && axis != "1")
        return node.refuse("'" + Twine(letter) + "' is an axis of " + extent +
                           " and of " + axis);
      if (!StringRef(result.letters).contains(letter) &&
          !StringRef(summed).contains(letter))
        summed += letter;
    }
  std::vector<std::string> axes, depths;
  for (size_t i = 0; i != result.letters.size(); ++i) {
    char letter = result.letters[i];
    if (!extents.count(letter) ||
        StringRef(result.letters).take_front(i).contains(letter))
      return node.refuse("'" + equation + "' is no formula of einsum");
    axes.push_back(extents[letter]);
  }
  for (char letter : summed)
    depths.push_back(extents[letter]);
  KernelText &kernel = node.kernel();
  return make(values[0].type, axes, [=, &kernel](const Subscripts &subscripts) {
    return kernel.reduce("sum", depths, [&](const Subscripts &k) {
      std::map<char, std::string> index;
      for (auto [letter, subscript] : zip(result.letters, subscripts))
        index[letter] = subscript;
      for (auto [letter, subscript] : zip(summed, k))
        index[letter] = subscript;
      std::optional<Text> all;
      for (auto [term, value] : zip(terms, values)) {
        Subscripts own;
        for (auto [letter, axis] : zip(term.letters, value.axes))
          own.push_back(axis == "1" ? "0" : index[letter]);
        Text element = value.at(own);
        all = all ? binary("*", *all, element) : element;
      }
      return *all;
    });
  });
}

Maker facet::import::productMaker(StringRef op) {
  return StringSwitch<Maker>(op)
      .Case("MatMul", {product, 2})
      .Case("Gemm", {gemm, 2})
      .Case("MatMulInteger", {integerProduct, 2})
      .Case("QLinearMatMul", {quantisedProduct, 8})
      .Case("Einsum", {einsum, 1})
      .Default({});
}
