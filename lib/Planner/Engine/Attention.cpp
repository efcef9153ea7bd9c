//===- Attention.cpp - a softmax between two contractions ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Found by who reads whom, from the end; names and the order of axes say nothing:
//
//   o[i, d] = sum[j](p[i, j] * v[j, d])            values
//   p[i, j] = bf16(x[i, j] / l[i])
//   l[i] = sum[j](x[i, j])                         sums
//   x[i, j] = exp(s[i, j] - m[i])                  exponentials
//   m[i] = max[j](s[i, j])                         maxima
//   s[i, j] = scale * sum[d](q[i, d] * k[j, d])    scores
//
// All of it under one filter, or none. Scores may be more than a number times the
// products: whatever a map computes of them (a cap, a bias, slopes). Of s, x and p
// nobody else may read, for they will not exist; other maxima of s and sums of
// exp(s - m) come along.
//
//===----------------------------------------------------------------------===//

#include "facet/Planner/Engine/Attention.h"
#include "facet/Dialect/Engine/IR/Engine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace facet;
using namespace facet::engine;
using kernel::StructuredOpInterface;
using kernel::Subscript;

static Value yieldedBy(StructuredOpInterface op) {
  return op.getBody().front().getTerminator()->getOperand(0);
}

/// The input that `value` is inside the body of `op`.
static std::optional<unsigned> inputOf(StructuredOpInterface op, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != &op.getBody().front() ||
      argument.getArgNumber() >= op.getInputs().size())
    return std::nullopt;
  return argument.getArgNumber();
}

/// Input `input` is read at the first `count` iterators of `op`, in their order.
static bool readsInOrder(StructuredOpInterface op, unsigned input,
                         unsigned count) {
  ArrayRef<Subscript> subscripts = op.getAccess(input).getSubscripts();
  if (subscripts.size() != count)
    return false;
  for (unsigned i = 0; i < count; ++i)
    if (!(subscripts[i] == Subscript{Subscript::Iterator, int64_t(i)}))
      return false;
  return true;
}

/// What a body computes without its inputs, in f32, or nullopt.
static std::optional<double> constantOf(StructuredOpInterface op, Value value) {
  if (std::optional<unsigned> input = inputOf(op, value)) {
    // A number that a statement of its own computes.
    auto map = op.getInputs()[*input].getDefiningOp<kernel::MapOp>();
    if (!map || map.getNumParallel() != 0 || !map.getInputs().empty())
      return std::nullopt;
    auto number = cast<StructuredOpInterface>(map.getOperation());
    return constantOf(number, yieldedBy(number));
  }
  Operation *def = value.getDefiningOp();
  if (!def)
    return std::nullopt;
  if (auto constant = dyn_cast<arith::ConstantOp>(def)) {
    if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
      return number.getValueAsDouble();
    return std::nullopt;
  }
  if (auto size = dyn_cast<kernel::SizeOp>(def)) {
    std::optional<int64_t> number =
        def->getParentOfType<kernel::FuncOp>().getFixedSize(size.getName());
    return number ? std::optional(double(*number)) : std::nullopt;
  }
  if (def->getNumResults() != 1 || !def->getResult(0).getType().isF32())
    return std::nullopt;
  SmallVector<float> operands;
  for (Value operand : def->getOperands()) {
    std::optional<double> number = constantOf(op, operand);
    if (!number)
      return std::nullopt;
    operands.push_back(float(*number));
  }
  if (isa<kernel::CastOp>(def))
    return operands[0];
  if (isa<math::RsqrtOp>(def))
    return 1.0f / std::sqrt(operands[0]);
  if (isa<math::SqrtOp>(def))
    return std::sqrt(operands[0]);
  if (isa<arith::MulFOp>(def))
    return operands[0] * operands[1];
  if (isa<arith::DivFOp>(def))
    return operands[0] / operands[1];
  return std::nullopt;
}

/// Without the choice of 0 where the guards do not hold: `chosen` gets the atoms.
static Value withoutSelect(StructuredOpInterface op, Value value,
                           SmallVectorImpl<int64_t> &chosen) {
  auto select = value.getDefiningOp<arith::SelectOp>();
  if (!select || op.getGuards().empty())
    return value;
  auto zero = select.getFalseValue().getDefiningOp<arith::ConstantOp>();
  auto number = zero ? dyn_cast<FloatAttr>(zero.getValue()) : FloatAttr();
  if (!number || !number.getValue().isPosZero())
    return value;
  SmallVector<Value> conditions = {select.getCondition()};
  SmallVector<int64_t> atoms;
  while (!conditions.empty()) {
    Value condition = conditions.pop_back_val();
    if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
      conditions.push_back(both.getLhs());
      conditions.push_back(both.getRhs());
      continue;
    }
    auto argument = dyn_cast<BlockArgument>(condition);
    unsigned numInputs = op.getInputs().size();
    if (!argument || argument.getOwner() != &op.getBody().front() ||
        argument.getArgNumber() < numInputs)
      return value;
    atoms.push_back(argument.getArgNumber() - numInputs);
  }
  chosen.assign(atoms.begin(), atoms.end());
  return select.getTrueValue();
}

namespace {
class Matcher {
public:
  explicit Matcher(const Machine *machine) : machine(machine) {}
  bool match(kernel::ReduceOp reduce);
  Attention found;

private:
  bool matchValues(kernel::ReduceOp reduce);
  bool matchWeights();
  bool matchExponentials(Value tensor);
  bool matchScores();
  bool gatherReaders();
  bool nameIterators();
  bool chooseRows();
  bool measure();

  Conditions filterOf(StructuredOpInterface op, ArrayRef<int64_t> atoms);
  /// The reduction is under the filter of all, over the last iterator of its own.
  bool reducesKeys(kernel::ReduceOp reduce, kernel::ReduceKind kind);
  /// It combines the elements of `tensor`; its filter may read others.
  bool combinesAll(StructuredOpInterface reduce, Value tensor) {
    std::optional<unsigned> input = inputOf(reduce, yieldedBy(reduce));
    return input && reduce.getInputs()[*input] == tensor &&
           readsInOrder(reduce, *input, numIterators);
  }
  bool onlyMembersRead(Value tensor);

  const Machine *machine;
  StructuredOpInterface weights;
  unsigned weightInput = 0;
  Value scoresTensor, expTensor;
  unsigned numIterators = 0;
  Conditions filter;
};
} // namespace

Conditions Matcher::filterOf(StructuredOpInterface op,
                             ArrayRef<int64_t> atoms) {
  SmallVector<unsigned> same = llvm::to_vector(llvm::seq(op.getNumIterators()));
  return conditionsOf(op, atoms, same, op.getNumIterators());
}

bool Matcher::reducesKeys(kernel::ReduceOp reduce, kernel::ReduceKind kind) {
  auto op = cast<StructuredOpInterface>(reduce.getOperation());
  if (reduce.getKind() != kind || op.getNumReduction() != 1 ||
      op.getNumIterators() != numIterators)
    return false;
  return sameConditions(filterOf(op, op.getFilter()), filter);
}

/// Sums of products, one factor a map that nobody else reads.
bool Matcher::matchValues(kernel::ReduceOp reduce) {
  std::optional<Contraction> values =
      matchContraction(reduce, machine, /*filtered=*/true);
  if (!values || values->exactTerms || values->k.size() != 1)
    return false;
  found.values = *values;
  for (unsigned input : {values->a, values->b}) {
    Value tensor = values->op().getInputs()[input];
    auto map = tensor.getDefiningOp<kernel::MapOp>();
    if (!map || !tensor.hasOneUse())
      continue;
    weights = cast<StructuredOpInterface>(map.getOperation());
    weightInput = input;
    found.valueInput = input == values->a ? values->b : values->a;
    if (matchWeights())
      break;
    weights = nullptr;
  }
  if (!weights)
    return false;
  // A rounding behind the sums is done on the way out, more is a stage of its own.
  if (std::optional<kernel::Epilogue> &epilogue = found.values.epilogue) {
    auto map = cast<StructuredOpInterface>(epilogue->map.getOperation());
    Value value = yieldedBy(map);
    if (auto cast = value.getDefiningOp<kernel::CastOp>())
      if (cast.getMode() == kernel::CastMode::Round &&
          isa<FloatType>(cast.getType()))
        value = cast.getValue();
    bool plain = inputOf(map, value) == epilogue->sumsInput &&
                 map.getInputs().size() == 1 && map.getNumGuardAtoms() == 0;
    if (!plain)
      epilogue.reset();
  }
  return true;
}

/// exponentials / sums, rounded or not.
bool Matcher::matchWeights() {
  Value value = yieldedBy(weights);
  if (auto cast = value.getDefiningOp<kernel::CastOp>()) {
    if (cast.getMode() != kernel::CastMode::Round)
      return false;
    value = cast.getValue();
  }
  SmallVector<int64_t> atoms;
  auto quotient =
      withoutSelect(weights, value, atoms).getDefiningOp<arith::DivFOp>();
  if (!quotient)
    return false;
  std::optional<unsigned> exponential = inputOf(weights, quotient.getLhs()),
                          total = inputOf(weights, quotient.getRhs());
  if (!exponential || !total)
    return false;
  auto exp = weights.getInputs()[*exponential].getDefiningOp<kernel::MapOp>();
  auto sum = weights.getInputs()[*total].getDefiningOp<kernel::ReduceOp>();
  numIterators = weights.getNumIterators();
  if (!exp || !sum || exp.getNumParallel() != numIterators ||
      !readsInOrder(weights, *exponential, numIterators) ||
      !readsInOrder(weights, *total, numIterators - 1))
    return false;
  filter = filterOf(weights, atoms);
  found.filter = filter.inequalities;
  found.exponentials = exp;
  expTensor = exp.getResult(0);
  auto sumOp = cast<StructuredOpInterface>(sum.getOperation());
  if (!reducesKeys(sum, kernel::ReduceKind::Sum) ||
      !combinesAll(sumOp, expTensor))
    return false;
  found.sums = {sum};
  return matchExponentials(expTensor);
}

/// exp(scores - maxima), 0 where the filter does not hold.
bool Matcher::matchExponentials(Value tensor) {
  auto op = cast<StructuredOpInterface>(found.exponentials.getOperation());
  SmallVector<int64_t> atoms;
  auto exp =
      withoutSelect(op, yieldedBy(op), atoms).getDefiningOp<math::ExpOp>();
  auto difference =
      exp ? exp.getOperand().getDefiningOp<arith::SubFOp>() : nullptr;
  if (!difference || !sameConditions(filterOf(op, atoms), filter))
    return false;
  std::optional<unsigned> score = inputOf(op, difference.getLhs()),
                          top = inputOf(op, difference.getRhs());
  if (!score || !top || !readsInOrder(op, *score, numIterators) ||
      !readsInOrder(op, *top, numIterators - 1))
    return false;
  scoresTensor = found.scoresTensor = op.getInputs()[*score];
  auto max = op.getInputs()[*top].getDefiningOp<kernel::ReduceOp>();
  if (!max || !reducesKeys(max, kernel::ReduceKind::Max))
    return false;
  auto maxOp = cast<StructuredOpInterface>(max.getOperation());
  if (!combinesAll(maxOp, scoresTensor))
    return false;
  found.maxima = {max};
  for (const Condition &condition : filterOf(maxOp, maxOp.getFilter()).others)
    found.conditions.push_back(condition.atom);
  return true;
}

/// What a map multiplies one of its inputs with, or nullopt: it does more.
static std::optional<std::pair<unsigned, double>>
productOf(StructuredOpInterface map) {
  Value value = yieldedBy(map);
  if (std::optional<unsigned> input = inputOf(map, value))
    return std::pair(*input, 1.0);
  Operation *def = value.getDefiningOp();
  if (!isa_and_nonnull<arith::MulFOp, arith::DivFOp>(def))
    return std::nullopt;
  bool divides = isa<arith::DivFOp>(def);
  for (unsigned side = 0; side < (divides ? 1 : 2); ++side) {
    std::optional<unsigned> input = inputOf(map, def->getOperand(side));
    std::optional<double> factor = constantOf(map, def->getOperand(1 - side));
    if (!input || !factor)
      continue;
    if (divides)
      factor = 1.0f / float(*factor);
    if (*factor > 0 && std::isnormal(float(*factor)))
      return std::pair(*input, *factor);
  }
  return std::nullopt;
}

/// A contraction, as it is, times a positive number, or what a map makes of it.
bool Matcher::matchScores() {
  Operation *def = scoresTensor.getDefiningOp();
  auto reduce = dyn_cast_or_null<kernel::ReduceOp>(def);
  found.inScores = llvm::to_vector(llvm::seq(numIterators));
  if (auto map = dyn_cast_or_null<kernel::MapOp>(def)) {
    auto op = cast<StructuredOpInterface>(map.getOperation());
    auto sumsOf = [&](unsigned input) {
      return op.getInputs()[input].getDefiningOp<kernel::ReduceOp>();
    };
    std::optional<std::pair<unsigned, double>> product;
    if (op.getNumGuardAtoms() == 0)
      product = productOf(op);
    if (product) {
      reduce = sumsOf(product->first);
      found.scale = product->second;
    }
    for (unsigned i = 0; i < op.getInputs().size() && !reduce; ++i) {
      reduce = sumsOf(i);
      if (reduce && !matchContraction(reduce, machine))
        reduce = nullptr;
      product.reset();
    }
    if (!reduce)
      return false;
    if (!product) {
      found.scale = 1;
      found.transform = map;
    }
    found.members.insert(map);
    std::optional<kernel::Epilogue> behind = kernel::matchEpilogue(reduce);
    if (!behind || behind->map != map)
      return false;
    found.sumsInput = behind->sumsInput;
    for (auto [i, iterator] : llvm::enumerate(behind->iterators))
      found.inScores[iterator] = i;
  }
  if (!reduce)
    return false;
  std::optional<Contraction> scores = matchContraction(reduce, machine);
  if (!scores || scores->exactTerms || scores->k.size() != 1 ||
      reduce.getNumParallel() != numIterators ||
      !cast<RankedTensorType>(reduce.getResult(0).getType())
           .getElementType()
           .isF32())
    return false;
  // A factor that was computed for this alone is a number now.
  if (def != reduce && !found.transform)
    for (Value input : cast<StructuredOpInterface>(def).getInputs()) {
      auto map = input.getDefiningOp<kernel::MapOp>();
      if (map && map.getNumParallel() == 0 && input.hasOneUse())
        found.members.insert(map);
    }
  found.scores = *scores;
  found.depth = scores->k.front();
  found.members.insert(reduce);
  return true;
}

/// Who else reads the scores must be a maximum, or a sum of their exponentials.
bool Matcher::gatherReaders() {
  for (Operation *user : scoresTensor.getUsers()) {
    auto reduce = dyn_cast<kernel::ReduceOp>(user);
    if (!reduce || llvm::is_contained(found.maxima, reduce))
      continue;
    auto op = cast<StructuredOpInterface>(user);
    if (reducesKeys(reduce, kernel::ReduceKind::Max) &&
        combinesAll(op, scoresTensor))
      found.maxima.push_back(reduce);
  }
  for (Operation *user : scoresTensor.getUsers()) {
    auto reduce = dyn_cast<kernel::ReduceOp>(user);
    if (!reduce || !reducesKeys(reduce, kernel::ReduceKind::Sum))
      continue;
    auto op = cast<StructuredOpInterface>(user);
    auto exp = yieldedBy(op).getDefiningOp<math::ExpOp>();
    auto difference =
        exp ? exp.getOperand().getDefiningOp<arith::SubFOp>() : nullptr;
    if (!difference)
      continue;
    std::optional<unsigned> score = inputOf(op, difference.getLhs()),
                            top = inputOf(op, difference.getRhs());
    if (!score || !top || op.getInputs()[*score] != scoresTensor ||
        !readsInOrder(op, *score, numIterators) ||
        !readsInOrder(op, *top, numIterators - 1) ||
        !llvm::is_contained(
            found.maxima,
            op.getInputs()[*top].getDefiningOp<kernel::ReduceOp>()))
      continue;
    found.sums.push_back(reduce);
  }
  for (kernel::ReduceOp reduce : found.maxima)
    found.members.insert(reduce);
  for (kernel::ReduceOp reduce : found.sums)
    found.members.insert(reduce);
  found.members.insert(found.exponentials);
  found.members.insert(weights);
  found.members.insert(found.values.reduce);
  if (found.values.epilogue)
    found.members.insert(found.values.epilogue->map);
  return onlyMembersRead(scoresTensor) && onlyMembersRead(expTensor) &&
         onlyMembersRead(found.scores.reduce.getResult(0));
}

bool Matcher::onlyMembersRead(Value tensor) {
  return llvm::all_of(tensor.getUsers(), [&](Operation *user) {
    return found.members.contains(user);
  });
}

/// Which iterators of the values are those of the exponentials.
bool Matcher::nameIterators() {
  StructuredOpInterface op = found.values.op();
  ArrayRef<Subscript> subscripts = op.getAccess(weightInput).getSubscripts();
  if (subscripts.size() != numIterators)
    return false;
  llvm::SmallDenseSet<int64_t> seen;
  for (const Subscript &subscript : subscripts) {
    if (subscript.kind != Subscript::Iterator ||
        !seen.insert(subscript.value).second)
      return false;
    found.inValues.push_back(subscript.value);
  }
  unsigned numParallel = op.getNumParallel();
  if (found.inValues.back() != numParallel || numParallel != numIterators)
    return false; // summed over the keys, and one column beside
  for (unsigned i = 0; i < numParallel; ++i)
    if (!seen.contains(i))
      found.column = i;
  // The filter of the sums is that of the softmax, or there is none.
  SmallVector<unsigned> renamed(numParallel + 1, numIterators);
  for (auto [i, iterator] : llvm::enumerate(found.inValues))
    renamed[iterator] = i;
  Conditions own = conditionsOf(op, op.getFilter(), renamed, numIterators + 1);
  if (op.getFilter().size() != op.getNumGuardAtoms())
    return false;
  for (Inequality &inequality : own.inequalities) {
    if (inequality.coefficients.back())
      return false;
    inequality.coefficients.pop_back();
  }
  return sameConditions(own, filter);
}

static bool usesIterator(StructuredOpInterface op, unsigned input,
                         unsigned iterator) {
  return llvm::is_contained(op.getAccess(input).getSubscripts(),
                            Subscript{Subscript::Iterator, iterator});
}

bool Matcher::chooseRows() {
  StructuredOpInterface scores = found.scores.op(), values = found.values.op();
  unsigned a = found.scores.a, b = found.scores.b,
           keys = found.inScores[found.keys()];
  if (usesIterator(scores, a, keys) == usesIterator(scores, b, keys))
    return false;
  found.keyInput = usesIterator(scores, a, keys) ? a : b;
  found.queryInput = found.keyInput == a ? b : a;
  if (!usesIterator(values, found.valueInput, found.column))
    return false;
  std::optional<unsigned> best;
  bool byFilter = false;
  for (unsigned i = 0; i < numIterators; ++i) {
    std::optional<int64_t> extent = kernel::knownExtent(
        cast<StructuredOpInterface>(found.exponentials.getOperation()), i);
    if (!extent || *extent == 0)
      return false;
    found.extents.push_back(*extent);
    bool candidate =
        i != found.keys() &&
        usesIterator(scores, found.queryInput, found.inScores[i]) &&
        !usesIterator(scores, found.keyInput, found.inScores[i]) &&
        !usesIterator(values, found.valueInput, found.inValues[i]);
    // Rows and keys are the plane in which blocks are skipped.
    bool filtered =
        llvm::any_of(found.filter, [&](const Inequality &inequality) {
          return inequality.coefficients[i] != 0;
        });
    if (candidate &&
        (!best || filtered || (!byFilter && *extent > found.extents[*best])))
      best = i;
    byFilter |= candidate && filtered;
  }
  if (!best)
    return false;
  found.rows = *best;
  for (unsigned i = 0; i < numIterators; ++i)
    if (i != found.rows && i != found.keys())
      found.outer.push_back(i);
  // Blocks are skipped in the plane of rows and keys; what is the same for a whole
  // plane would be a condition on loops.
  for (const Inequality &inequality : found.filter)
    for (unsigned i : found.outer)
      if (inequality.coefficients[i])
        return false;
  return true;
}

bool Matcher::measure() {
  std::optional<int64_t> depth = kernel::knownExtent(found.scores.op(),
                                                     found.depth),
                         column = kernel::knownExtent(found.values.op(),
                                                      found.column);
  if (!depth || !column || *depth == 0 || *column == 0)
    return false;
  found.depthExtent = *depth;
  found.columnExtent = *column;
  Type weight = found.weightType();
  return weight.isBF16() || weight.isF16() || weight.isF32();
}

bool Matcher::match(kernel::ReduceOp reduce) {
  if (!matchValues(reduce) || !matchScores() || !gatherReaders() ||
      !nameIterators() || !chooseRows() || !measure())
    return false;
  // The stage stands where its last member stood: nobody may read before.
  Operation *last = *found.members.begin();
  for (Operation *member : found.members)
    if (last->isBeforeInBlock(member))
      last = member;
  for (Operation *member : found.members)
    for (Operation *user : member->getUsers())
      if (!found.members.contains(user) && user->isBeforeInBlock(last))
        return false;
  return true;
}

bool Attention::leaves(kernel::ReduceOp op) const {
  return llvm::any_of(op.getResult(0).getUsers(),
                      [&](Operation *user) { return !members.contains(user); });
}

SmallVector<StructuredOpInterface> Attention::results() {
  SmallVector<StructuredOpInterface> ops = {result()};
  for (kernel::ReduceOp reduce : llvm::concat<kernel::ReduceOp>(maxima, sums))
    if (leaves(reduce))
      ops.push_back(cast<StructuredOpInterface>(reduce.getOperation()));
  return ops;
}

std::optional<Attention> engine::matchAttention(kernel::ReduceOp values,
                                                const Machine *machine) {
  Matcher matcher(machine);
  if (!matcher.match(values))
    return std::nullopt;
  return matcher.found;
}
