//===- KernelChecker.h - from a kernel's tree to its checked form ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_FRONTEND_KERNELCHECKER_H
#define FACET_FRONTEND_KERNELCHECKER_H

#include "Literal.h"
#include "Words.h"
#include "facet/Frontend/Syntax.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <deque>

namespace facet {

/// A function of the text, where it stands.
struct FunctionDef {
  std::string file;
  const syntax::Function *syntax;
  bool broken = false; // a message was given; calls of it are silent
};

/// What a module knows by name besides the kernel at hand.
struct GlobalNames {
  llvm::StringMap<FunctionDef> functions;
  llvm::StringMap<Place> kernels;        // of the main file and of imports
  llvm::StringMap<Place> laterFunctions; // defined further down in this file
};

/// Why `count` arguments are wrong for the function `name`, for a message;
/// empty when they are right or nothing is known of the function.
std::string wrongCount(llvm::StringRef name, size_t count,
                       const GlobalNames &names);

/// Says that no function `name` can be called here, and what to write instead.
void reportUnknownFunction(llvm::StringRef name, Place where,
                           const GlobalNames &names, Diagnostics &diagnostics);

/// Literals, and operations on literals only, wait here for their type.
struct Pending {
  enum Kind : uint8_t { Leaf, Unary, Binary, Select };
  Kind kind = Leaf;
  bool isFloat = false;
  Literal literal;
  checked::UnaryOp unary{};
  checked::BinaryOp binary{};
  const checked::Expr *condition = nullptr;
  const Pending *a = nullptr, *b = nullptr;
  unsigned height = 1;
  Place place;
};

/// What an expression gave: a typed tree, pending literals, or neither, after
/// an error that was reported.
struct Value {
  const checked::Expr *expr = nullptr;
  const Pending *pending = nullptr;

  bool failed() const { return !expr && !pending; }
  bool isLiteral() const { return pending && pending->kind == Pending::Leaf; }
};

/// An index in scope, and all that says how far it runs.
struct BoundIndex {
  struct Range {
    checked::Dim dim;
    Place place;
    std::string of; // "axis 2 of `a`"
  };
  checked::Index *index;
  std::vector<Range> ranges;
  bool used = false; // in a filter or body
};

/// The expression's own text and, inside a function, its parameters' values.
struct Environment {
  llvm::StringRef file;
  const syntax::Function *function = nullptr;
  llvm::ArrayRef<Value> arguments;
  const Environment *caller = nullptr;
  Place call;
};

class KernelChecker {
public:
  KernelChecker(const syntax::Kernel &syntax, llvm::StringRef file,
                const GlobalNames &names, Diagnostics &diagnostics);

  /// Null when an error was reported.
  std::unique_ptr<checked::Kernel> run();

  /// Checks `when` and the statement names of a schedule for `kernel`.
  static void checkSchedule(const checked::Kernel &kernel,
                            const syntax::Schedule &schedule,
                            Diagnostics &diagnostics);

private:
  enum class Mode { Statement, Requires, When };

  // Declarations and statements (CheckKernel.cpp).
  void declareParams(const std::vector<syntax::Param> &params, bool results);
  void declareParam(const syntax::Param &param, bool isResult);
  void checkParamType(const syntax::Param &param, checked::Variable &variable);
  std::optional<checked::Dim> dimOf(const syntax::Dim &dim);
  void noteSizes(const std::vector<syntax::Param> &params, bool results);
  void collectLets();
  void checkRequirements();
  void checkStatement(const syntax::Statement &statement);
  checked::Variable *targetOf(const syntax::Statement &statement);
  bool bindLeft(const syntax::Statement &statement,
                const checked::Variable &target);
  void finishLet(checked::Variable &let, const checked::Expr &value);
  void checkAllAssigned();
  void warnUnused();

  // Expressions (CheckExpr.cpp).
  Value check(const syntax::Expr &expr, const Environment &env);
  Value checkLiteral(const syntax::Expr &expr, const Environment &env);
  Value checkSize(const syntax::Expr &expr, const Environment &env);
  Value checkUnary(const syntax::Expr &expr, const Environment &env);
  Value checkBinary(const syntax::Expr &expr, const Environment &env);
  Value checkLogical(const syntax::Expr &expr, const Environment &env);
  Value combine(checked::BinaryOp op, const syntax::Expr &at, Value a, Value b,
                const syntax::Expr &textA, const syntax::Expr &textB,
                const Environment &env);
  bool unify(llvm::StringRef op, Place place, Value &a, Value &b,
             const syntax::Expr &textA, const syntax::Expr &textB,
             const Environment &env);
  const checked::Expr *condition(const syntax::Expr &expr,
                                 const Environment &env, llvm::StringRef of);
  bool checkDivisor(const checked::Expr *divisor, const syntax::Expr &text,
                    const Environment &env);

  // Calls (CheckCall.cpp).
  Value checkCall(const syntax::Expr &expr, const Environment &env);
  Value checkMinMax(const syntax::Expr &expr, const Environment &env);
  Value checkWhere(const syntax::Expr &expr, const Environment &env);
  Value checkClamp(const syntax::Expr &expr, const Environment &env);
  Value applyUnary(checked::UnaryOp op, const syntax::Expr &expr, Value operand,
                   const Environment &env);
  Value expand(const FunctionDef &function, const syntax::Expr &expr,
               const Environment &env);
  Value unknownCall(const syntax::Expr &expr, const Environment &env);

  // Conversions and literals' types (CheckConvert.cpp).
  Value checkConvert(const syntax::Expr &expr, const Environment &env);
  Value convertLiteral(const syntax::Expr &expr, const Pending &literal,
                       const Environment &env);
  const checked::Expr *convertValue(const syntax::Expr &expr,
                                    const checked::Expr *operand,
                                    const Environment &env);
  const checked::Expr *toTarget(const checked::Variable &target, Value value,
                                const syntax::Expr &text,
                                const Environment &env);
  const checked::Expr *materialize(const Value &value, ScalarType type,
                                   const Environment &env);
  const checked::Expr *materialize(const Pending &pending, ScalarType type,
                                   const Environment &env);
  const checked::Expr *settle(const Value &value, const Environment &env);
  const checked::Expr *widen(const checked::Expr *expr, ScalarType type);
  const checked::Expr *clampToF32(const checked::Expr *expr, Place where);
  checked::Expr *convert(checked::ConvertMode mode,
                         const checked::Expr *operand, ScalarType storage,
                         Place place);

  // Names, reads, subscripts (CheckRead.cpp).
  Value checkName(const syntax::Expr &expr, const Environment &env);
  bool mayRead(const checked::Variable &variable, const syntax::Expr &expr,
               Place place);
  bool isOwnElement(const syntax::Expr &expr) const;
  bool checkSubscripts(checked::Expr &read,
                       const std::vector<syntax::Subscript> &subscripts,
                       Place place, const Environment &env);
  bool checkSubscript(checked::Expr &read, unsigned position,
                      const syntax::Subscript &subscript,
                      const Environment &env);
  bool checkElement(checked::Subscript &result, const checked::Variable &array,
                    const syntax::Subscript &subscript, const Environment &env);
  void unknownName(llvm::StringRef name, Place place, bool asSubscript);

  // Indices and reductions (CheckReduce.cpp).
  Value checkReduce(const syntax::Expr &expr, const Environment &env);
  Value checkSoftmax(const syntax::Expr &expr, const Environment &env);
  const checked::Expr *checkBody(const syntax::Expr &expr,
                                 const Environment &env);
  bool acceptsBody(const syntax::Expr &expr, const checked::Expr &body,
                   const Environment &env);
  bool bind(const syntax::Bind &bind, const Environment &env);
  BoundIndex *findIndex(llvm::StringRef name);
  bool addRange(BoundIndex &bound, const syntax::Bind &bind,
                const Environment &env);
  bool settleRange(BoundIndex &bound);
  bool nameIsFree(llvm::StringRef name, Place place, llvm::StringRef what);

  // Nodes.
  checked::Expr *make(checked::ExprKind kind, ScalarType type, Place place,
                      llvm::ArrayRef<const checked::Expr *> operands = {});
  Pending *makePending(Pending::Kind kind, bool isFloat, Place place,
                       const Pending *a = nullptr, const Pending *b = nullptr);
  const checked::Expr *
  copy(const checked::Expr *expr,
       llvm::SmallVectorImpl<
           std::pair<const checked::Index *, const checked::Index *>> &renamed);
  Value copy(const Value &value);

  // Messages.
  Place place(syntax::Span span, const Environment &env) const {
    return syntax::placeIn(env.file, span);
  }
  Diagnostic &error(Place where, const llvm::Twine &message,
                    const Environment *env = nullptr);
  std::string dimText(const checked::Dim &dim) const;
  std::string axesText(const checked::Variable &variable) const;
  std::string nameOfType(const Value &value) const;

  const syntax::Kernel &syntax;
  llvm::StringRef file;
  const GlobalNames &names;
  Diagnostics &diagnostics;
  std::unique_ptr<checked::Kernel> kernel;
  Mode mode = Mode::Statement;

  llvm::StringMap<unsigned> sizes;
  llvm::StringMap<checked::Variable *> variables;
  llvm::StringMap<Place> lets; // all of the kernel, for messages
  llvm::DenseMap<const checked::Variable *, Place> assigned;
  llvm::DenseMap<const checked::Variable *, bool> wasRead;
  /// Lets whose definition failed: reads of them are silent.
  llvm::DenseMap<const checked::Variable *, bool> broken;
  const checked::Variable *current = nullptr; // the one being assigned
  const syntax::Statement *currentSyntax = nullptr;

  std::deque<BoundIndex> bound; // innermost last
  std::deque<Pending> pendings;
  unsigned depth = 0;
  unsigned callDepth = 0;
  bool tooLarge = false;
  bool isAmbiguous = false; // an argument or result is declared twice
  bool lostTarget = false;  // a statement assigns an unknown name
  bool failed = false;
};

} // namespace facet

#endif // FACET_FRONTEND_KERNELCHECKER_H
