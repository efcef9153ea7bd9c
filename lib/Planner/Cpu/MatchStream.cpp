//===- MatchStream.cpp - a softmax between two contractions, recognised ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   s[i, j] = sum[d](q[i, d] * k[j, d])          scores: a contraction, j is its n
//   e[i, j] = s[i, j] * scale + bias[i, j]       maps, point by point
//   p[i, j] = softmax[j | j <= i](e[i, j])
//   w[i, j] = bf16(p[i, j])                      rounds a weight, nothing else
//   o[i, n] = sum[j | j <= i](w[i, j] * v[j, n]) values: a contraction, j is its k
//   m[i] = max[j | j <= i](e[i, j])              by-products, if they are asked for
//   l[i] = sum[j | j <= i](exp(e[i, j] - m[i]))
//
// From the softmax, the walk goes up to the one sum it rests on and down to the one
// sum that reads it. All that lies between must be read inside alone, under the same
// filter, at the same point: then no element of it needs a place in memory.
//
//===----------------------------------------------------------------------===//

#include "facet/Planner/Cpu/Stream.h"

#include "facet/Dialect/Kernel/IR/LiveOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace facet;
using namespace facet::cpu;
using namespace mlir;
using kernel::StructuredOpInterface;
using kernel::Subscript;

namespace {

class Matcher {
public:
  Matcher(kernel::SoftmaxOp softmax, std::string &reason)
      : op(cast<StructuredOpInterface>(softmax.getOperation())),
        reason(reason) {
    stream.softmax = softmax;
  }

  std::optional<Stream> match();

private:
  bool climb(StructuredOpInterface reader);
  bool matchScores();
  bool descend();
  bool matchByProduct(kernel::ReduceOp reduce);
  bool matchIterators();
  bool checkOps();

  /// Notes where `read`, input `input` of `reader`, is computed; false unless that is
  /// one element for each point.
  bool placeProducer(StructuredOpInterface reader, unsigned input);
  /// The same for a reader of the points.
  bool placeReader(StructuredOpInterface reader, unsigned input,
                   const Stream::Place &place);
  bool isWeight(Value value, Value tensor);
  bool sameFilter(StructuredOpInterface a, StructuredOpInterface b);
  bool same(StructuredOpInterface a, Value x, StructuredOpInterface b, Value y);

  bool refuse(std::string text) {
    reason = std::move(text);
    return false;
  }

  Stream stream;
  StructuredOpInterface op; // the softmax
  std::string &reason;
  kernel::ReduceOp scores;
  Value exponent; // of the softmax: its body's result
};

} // namespace

SmallVector<Operation *> Stream::ops() const {
  SmallVector<Operation *> result{scores.reduce, softmax, values.reduce};
  result.append(maps.begin(), maps.end());
  for (kernel::ReduceOp reduce : {max, sum})
    if (reduce)
      result.push_back(reduce);
  llvm::sort(result,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return result;
}

/// The iterators that input `input` is read at, one per dimension and each once.
static std::optional<SmallVector<unsigned>> readAt(StructuredOpInterface reader,
                                                   unsigned input) {
  SmallVector<unsigned> iterators;
  for (const Subscript &subscript : reader.getAccess(input).getSubscripts()) {
    if (subscript.kind != Subscript::Iterator ||
        llvm::is_contained(iterators, subscript.value))
      return std::nullopt;
    iterators.push_back(subscript.value);
  }
  return iterators;
}

/// The input of `op` that `value` of its body is.
static std::optional<unsigned> inputOf(StructuredOpInterface op, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getArgNumber() >= op.getInputs().size())
    return std::nullopt;
  return argument.getArgNumber();
}

static std::optional<unsigned> inputReading(StructuredOpInterface op,
                                            Value tensor) {
  std::optional<unsigned> found;
  for (auto [k, input] : llvm::enumerate(op.getInputs()))
    if (input == tensor) {
      if (found)
        return std::nullopt;
      found = k;
    }
  return found;
}

//===----------------------------------------------------------------------===//
// Up to the scores
//===----------------------------------------------------------------------===//

bool Matcher::placeProducer(StructuredOpInterface reader, unsigned input) {
  std::optional<SmallVector<unsigned>> at = readAt(reader, input);
  const Stream::Place &place = stream.places[reader];
  if (!at || at->size() != op.getNumIterators())
    return false;
  Stream::Place result;
  for (unsigned iterator : *at)
    result.push_back(place[iterator]);
  Operation *producer = reader.getInputs()[input].getDefiningOp();
  auto [it, isNew] = stream.places.try_emplace(producer, result);
  return isNew || it->second.size() < result.size() ||
         llvm::equal(ArrayRef(it->second).take_front(result.size()), result);
}

/// Finds the sum that `reader` rests on, and notes the maps between.
bool Matcher::climb(StructuredOpInterface reader) {
  bool found = false;
  for (unsigned k = 0; k < reader.getInputs().size(); ++k) {
    Value input = reader.getInputs()[k];
    auto reduce = input.getDefiningOp<kernel::ReduceOp>();
    auto map = input.getDefiningOp<kernel::MapOp>();
    bool isPoint =
        readAt(reader, k) && readAt(reader, k)->size() == op.getNumIterators();
    if (reduce && isPoint && matchContraction(reduce)) {
      if ((scores && scores != reduce) || !placeProducer(reader, k))
        return false;
      scores = reduce;
      found = true;
    } else if (map && isPoint) {
      bool isNew = !stream.places.contains(map);
      if (!placeProducer(reader, k))
        return false;
      if (!isNew) {
        found |= llvm::is_contained(stream.maps, map);
      } else if (climb(map)) {
        stream.maps.push_back(map);
        found = true;
      } else {
        stream.places.erase(map);
      }
    }
  }
  return found;
}

bool Matcher::matchScores() {
  if (!climb(op) || !scores)
    return refuse("it does not rest on one sum of products");
  stream.scores = *matchContraction(scores);
  auto reduce = cast<StructuredOpInterface>(scores.getOperation());
  stream.places[scores].resize(reduce.getNumIterators());
  const Contraction &c = stream.scores;
  if (c.n.size() != 1 || stream.places[scores][c.n[0]] != stream.key)
    return refuse("it does not normalise over the columns of its product");
  if (c.m.empty())
    return refuse("there is one row for each of its keys");
  return true;
}

//===----------------------------------------------------------------------===//
// Down to the values
//===----------------------------------------------------------------------===//

/// `value` of a body is the element of `tensor`, rounded or not.
bool Matcher::isWeight(Value value, Value tensor) {
  auto reader =
      cast<StructuredOpInterface>(value.getParentBlock()->getParentOp());
  while (auto cast = value.getDefiningOp<kernel::CastOp>()) {
    if (!isa<FloatType>(cast.getType()) ||
        !isa<FloatType>(cast.getValue().getType()) || cast.getType().isF64())
      return false;
    value = cast.getValue();
  }
  std::optional<unsigned> input = inputOf(reader, value);
  return input && reader.getInputs()[*input] == tensor &&
         reader.getGuardsOfInput(*input).empty();
}

bool Matcher::placeReader(StructuredOpInterface reader, unsigned input,
                          const Stream::Place &producer) {
  std::optional<SmallVector<unsigned>> at = readAt(reader, input);
  if (!at)
    return false;
  Stream::Place result(reader.getNumIterators());
  for (auto [iterator, place] : llvm::zip_equal(*at, producer))
    result[iterator] = place;
  stream.places[reader] = result;
  return true;
}

bool Matcher::descend() {
  Value weights = op->getResult(0);
  if (!weights.hasOneUse())
    return refuse("more than one statement reads it");
  if (auto map = dyn_cast<kernel::MapOp>(*weights.user_begin())) {
    auto reader = cast<StructuredOpInterface>(map.getOperation());
    std::optional<unsigned> input = inputReading(reader, weights);
    Value result = reader.getBody().front().getTerminator()->getOperand(0);
    if (!input || reader.getNumIterators() != op.getNumIterators() ||
        !isWeight(result, weights) ||
        !placeReader(reader, *input, stream.places[op]))
      return refuse("a map that is more than a rounding reads it");
    stream.maps.push_back(map);
    weights = map.getResult(0);
    if (!weights.hasOneUse() || kernel::isReturned(map))
      return refuse("its weights are read more than once");
  }
  auto reduce = dyn_cast<kernel::ReduceOp>(*weights.user_begin());
  std::optional<Contraction> values =
      reduce ? matchFilteredContraction(reduce) : std::nullopt;
  if (!values || values->dot != Dot::F32)
    return refuse("no sum of products reads it");
  stream.values = *values;
  auto reader = cast<StructuredOpInterface>(reduce.getOperation());
  std::optional<unsigned> input = inputReading(reader, weights);
  Stream::Place producer = stream.places[weights.getDefiningOp()];
  if (!input || values->a.size() != 1 || !isWeight(values->a[0], weights) ||
      !placeReader(reader, *input, producer))
    return refuse("the sum that reads it multiplies something else by it");
  const Stream::Place &place = stream.places[reader];
  if (values->k.size() != 1 || place[values->k[0]] != stream.key ||
      values->n.size() != 1)
    return refuse("the sum that reads it is not over its keys alone");
  if (!sameFilter(op, reader))
    return refuse("the sum that reads it has another filter");
  return true;
}

//===----------------------------------------------------------------------===//
// By-products
//===----------------------------------------------------------------------===//

/// `reduce` reads what the softmax reads, and is its maximum or its sum.
bool Matcher::matchByProduct(kernel::ReduceOp reduce) {
  auto reader = cast<StructuredOpInterface>(reduce.getOperation());
  Value body = reader.getBody().front().getTerminator()->getOperand(0);
  bool isSum = reduce.getKind() == kernel::ReduceKind::Sum;
  Value value = body, base;
  if (isSum) {
    auto exp = body.getDefiningOp<math::ExpOp>();
    auto difference =
        exp ? exp.getOperand().getDefiningOp<arith::SubFOp>() : arith::SubFOp();
    if (!difference)
      return false;
    value = difference.getLhs();
    base = difference.getRhs();
  } else if (reduce.getKind() != kernel::ReduceKind::Max) {
    return false;
  }
  // Where it stands follows from an element that both read at every point.
  for (auto [k, input] : llvm::enumerate(reader.getInputs())) {
    std::optional<unsigned> own = inputReading(op, input);
    std::optional<SmallVector<unsigned>> at = readAt(reader, k), ownAt;
    if (own)
      ownAt = readAt(op, *own);
    if (!at || !ownAt || at->size() != op.getNumIterators())
      continue;
    Stream::Place producer(ownAt->begin(), ownAt->end());
    if (!placeReader(reader, k, producer))
      continue;
    const Stream::Place &place = stream.places[reader];
    bool good = reader.getNumIterators() == op.getNumIterators() &&
                reader.getNumReduction() == 1 && place.back() == stream.key &&
                same(op, exponent, reader, value) && sameFilter(op, reader);
    if (good && isSum) {
      std::optional<unsigned> input = inputOf(reader, base);
      good = input && stream.max &&
             reader.getInputs()[*input] == stream.max.getResult(0) &&
             readAt(reader, *input);
      if (good) {
        std::optional<SmallVector<unsigned>> at = readAt(reader, *input);
        for (auto [dim, iterator] : llvm::enumerate(*at))
          good &= place[iterator] == stream.places[stream.max][dim];
      }
    }
    kernel::ReduceOp &slot = isSum ? stream.sum : stream.max;
    if (good && !slot) {
      slot = reduce;
      return true;
    }
    stream.places.erase(reader);
  }
  return false;
}

/// Values of two bodies (or guards) that are the same at the same point.
bool Matcher::same(StructuredOpInterface a, Value x, StructuredOpInterface b,
                   Value y) {
  const Stream::Place &placeA = stream.places[a], &placeB = stream.places[b];
  auto argumentX = dyn_cast<BlockArgument>(x),
       argumentY = dyn_cast<BlockArgument>(y);
  if (argumentX && argumentY) {
    unsigned i = argumentX.getArgNumber(), j = argumentY.getArgNumber();
    if (i >= a.getInputs().size() || j >= b.getInputs().size()) {
      if (i < a.getInputs().size() || j < b.getInputs().size())
        return false;
      auto atom = [](StructuredOpInterface op, unsigned number) {
        return op.getGuards().front().getTerminator()->getOperand(
            number - op.getInputs().size());
      };
      return same(a, atom(a, i), b, atom(b, j));
    }
    kernel::AccessAttr accessA = a.getAccess(i), accessB = b.getAccess(j);
    ArrayRef<Subscript> from = accessA.getSubscripts(),
                        to = accessB.getSubscripts();
    if (a.getInputs()[i] != b.getInputs()[j] || from.size() != to.size() ||
        !a.getGuardsOfInput(i).empty() || !b.getGuardsOfInput(j).empty())
      return false;
    for (auto [s, t] : llvm::zip_equal(from, to)) {
      if (s.kind != t.kind || s.kind == Subscript::Element)
        return false;
      if (s.kind == Subscript::Constant
              ? s.value != t.value
              : !placeA[s.value] || placeA[s.value] != placeB[t.value])
        return false;
    }
    return true;
  }
  Operation *defX = x.getDefiningOp(), *defY = y.getDefiningOp();
  if (!defX || !defY)
    return false;
  if (defX == defY)
    return true; // a constant of the kernel
  if (defX->getName() != defY->getName() ||
      defX->getNumOperands() != defY->getNumOperands() ||
      defX->getResultTypes() != defY->getResultTypes())
    return false;
  if (auto index = dyn_cast<kernel::IndexOp>(defX)) {
    auto find = [](StructuredOpInterface op, StringRef name) {
      for (unsigned i = 0; i < op.getNumIterators(); ++i)
        if (op.getIteratorName(i) == name)
          return i;
      return op.getNumIterators();
    };
    unsigned i = find(a, index.getIterator()),
             j = find(b, cast<kernel::IndexOp>(defY).getIterator());
    return i < placeA.size() && j < placeB.size() && placeA[i] &&
           placeA[i] == placeB[j];
  }
  if (defX->getAttrDictionary() != defY->getAttrDictionary() ||
      defX->getPropertiesAsAttribute() != defY->getPropertiesAsAttribute())
    return false;
  return llvm::all_of(llvm::zip_equal(defX->getOperands(), defY->getOperands()),
                      [&](auto pair) {
                        return same(a, std::get<0>(pair), b, std::get<1>(pair));
                      });
}

bool Matcher::sameFilter(StructuredOpInterface a, StructuredOpInterface b) {
  if (a.getFilter().size() != b.getFilter().size())
    return false;
  auto atom = [](StructuredOpInterface op, int64_t number) {
    return op.getGuards().front().getTerminator()->getOperand(number);
  };
  return llvm::all_of(a.getFilter(), [&](int64_t i) {
    return llvm::any_of(b.getFilter(), [&](int64_t j) {
      return same(a, atom(a, i), b, atom(b, j));
    });
  });
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

/// Which iterators the packed operands depend on: those are shared out first.
bool Matcher::matchIterators() {
  auto rowsOf = [&](const Contraction &c) {
    kernel::ReduceOp reduce = c.reduce;
    SmallVector<unsigned> rows;
    for (unsigned i : c.m)
      if (std::optional<unsigned> place = stream.places[reduce][i])
        rows.push_back(*place);
    return rows;
  };
  SmallVector<unsigned> ofScores = rowsOf(stream.scores),
                        ofValues = rowsOf(stream.values);
  // The last of them that has more than one value is cut into blocks.
  auto isCut = [&](unsigned i) {
    return llvm::is_contained(ofValues, i) && kernel::knownExtent(op, i) != 1;
  };
  auto last = llvm::find_if(llvm::reverse(ofScores), isCut);
  stream.row = last != ofScores.rend() ? *last : ofScores.back();
  if (!llvm::is_contained(ofValues, stream.row))
    return refuse("its rows read values of their own");
  kernel::ReduceOp reduce = stream.scores.reduce;
  SmallVector<unsigned> &rows = stream.scores.m;
  auto cut = llvm::find_if(
      rows, [&](unsigned i) { return stream.places[reduce][i] == stream.row; });
  std::rotate(cut, cut + 1, rows.end());
  for (unsigned i = 0; i < op.getNumParallel(); ++i) {
    if (i == stream.row)
      continue;
    bool isRow =
        llvm::is_contained(ofScores, i) && llvm::is_contained(ofValues, i);
    (isRow ? stream.outerRows : stream.batch).push_back(i);
  }
  return true;
}

/// Nothing inside is read outside, starts from a tensor, or may change meanwhile.
bool Matcher::checkOps() {
  SmallVector<Operation *> all = stream.ops();
  auto function = op->getParentOfType<kernel::FuncOp>();
  for (Operation *inner : all) {
    auto structured = cast<StructuredOpInterface>(inner);
    bool isOutput = inner == stream.values.reduce || inner == stream.max ||
                    inner == stream.sum;
    for (Operation *user : inner->getUsers())
      if (!isOutput && !llvm::is_contained(all, user))
        return refuse("something else reads its exponents");
    if (isa<kernel::ReduceOp>(inner) &&
        !structured.getInits()[0].getDefiningOp<tensor::SplatOp>())
      return refuse("its sums start from a tensor");
    for (Value input : structured.getInputs()) {
      auto parameter = dyn_cast<BlockArgument>(input);
      if (parameter && function.getParam(parameter.getArgNumber()).getMode() ==
                           kernel::ParamMode::Inout)
        return refuse("it reads an inout");
      Operation *def = input.getDefiningOp();
      if (def && !llvm::is_contained(all, def) &&
          stream.values.reduce->isBeforeInBlock(def))
        return refuse("what it reads is computed behind its values");
    }
  }
  // The by-products come out with the values.
  return true;
}

std::optional<Stream> Matcher::match() {
  Type type =
      cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
  bool isOne = op.getNumReduction() == 1 && type.isF32();
  if (!isOne) {
    refuse("it normalises over several axes, or in f64");
    return std::nullopt;
  }
  stream.key = op.getNumIterators() - 1;
  Stream::Place self;
  for (unsigned i = 0; i < op.getNumIterators(); ++i)
    self.push_back(i);
  stream.places[op] = self;
  exponent = op.getBody().front().getTerminator()->getOperand(0);
  if (op.getNumGuardAtoms() != op.getFilter().size()) {
    refuse("what it reads is guarded");
    return std::nullopt;
  }
  if (!matchScores() || !descend() || !matchIterators())
    return std::nullopt;
  for (auto kind : {kernel::ReduceKind::Max, kernel::ReduceKind::Sum})
    for (Value input : op.getInputs())
      for (Operation *user : llvm::to_vector(input.getUsers()))
        if (auto reduce = dyn_cast<kernel::ReduceOp>(user);
            reduce && reduce.getKind() == kind &&
            !stream.places.contains(reduce))
          matchByProduct(reduce);
  if (!checkOps())
    return std::nullopt;
  llvm::sort(stream.maps, [](kernel::MapOp a, kernel::MapOp b) {
    return a->isBeforeInBlock(b);
  });
  return stream;
}

std::optional<Stream> cpu::matchStream(kernel::SoftmaxOp softmax,
                                       std::string &reason) {
  return Matcher(softmax, reason).match();
}
