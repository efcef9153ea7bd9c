//===- Levels.cpp - the table of levels, and how an object finds its own --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An object asks its CPU once and remembers the answer in a word of its own:
//
//   static int32_t cpu;                             // 0: not asked yet
//   static int32_t level(int32_t cap) {             // 0: no code that may run
//     int32_t has = cpu ? cpu : (cpu = detect());   // atomic, every thread alike
//     return the last of the object's levels in the set `has` and not behind cap
//   }
//
// What a CPU has is a set, a bit per level: levels do not include each other in a row.
//
// Threads that ask at once find the same, so a plain atomic word is enough: no
// lock, no constructor that runs at load, no symbol from outside. An instruction
// set counts only if the system saves its registers, which XGETBV says. Tile registers
// Linux saves for processes that have asked for them; an object looks whether this one
// has, and leaves the asking, which changes the process, to others.
//
// A switch on the number rather than a stored pointer: max_level may differ from
// call to call, and a position-independent object needs no relocation for it.
//
//===----------------------------------------------------------------------===//

#include "facet/Target/Levels.h"
#include "EntryPoints.h"

#include "facet/abi.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace facet;
using namespace facet::interface;

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

ArrayRef<Level> facet::levels() {
  // System V psABI for x86-64, section 3.1.1. FXSR and MMX are in every CPU with
  // 64 bits.
  static constexpr Level all[] = {
      {FACET_LEVEL_X86_64_V2, "x86-64-v2", "x86_64", "x86-64", "x86-64-v2", "",
       "cx16,sahf,popcnt,sse3,sse4.1,sse4.2,ssse3"},
      {FACET_LEVEL_X86_64_V3, "x86-64-v3", "x86_64", "x86-64", "x86-64-v3", "",
       "avx,avx2,bmi,bmi2,f16c,fma,lzcnt,movbe", FACET_LEVEL_X86_64_V2},
      // Clients without AVX-512: Alder Lake and its like.
      {FACET_LEVEL_X86_64_V3_VNNI, "x86-64-v3-vnni", "x86_64", "x86-64",
       "x86-64-v3", "+avxvnni", "avxvnni", FACET_LEVEL_X86_64_V3,
       LevelDots::Bytes},
      {FACET_LEVEL_X86_64_V4, "x86-64-v4", "x86_64", "x86-64", "x86-64-v4", "",
       "avx512f,avx512bw,avx512cd,avx512dq,avx512vl", FACET_LEVEL_X86_64_V3},
      // What Zen 4 and Sapphire Rapids have in common beyond it.
      {FACET_LEVEL_ZNVER4, "znver4", "x86_64", "x86-64", "x86-64-v4",
       "+avx512vnni,+avx512bf16", "avx512vnni,avx512bf16",
       FACET_LEVEL_X86_64_V4, LevelDots::All},
      {FACET_LEVEL_SAPPHIRERAPIDS, "sapphirerapids", "x86_64", "x86-64",
       "x86-64-v4", "+avx512vnni,+avx512bf16,+amx-tile,+amx-bf16,+amx-int8",
       "amx-tile,amx-bf16,amx-int8", FACET_LEVEL_ZNVER4, LevelDots::Tiles},
      {FACET_LEVEL_AARCH64, "aarch64", "aarch64", "generic", "generic", "",
       "neon"},
  };
  return all;
}

const Level *facet::findLevel(int32_t number) {
  for (const Level &level : levels())
    if (level.number == number)
      return &level;
  return nullptr;
}

SmallVector<StringRef> facet::featuresOf(const Level &level) {
  SmallVector<StringRef> features;
  for (const Level *at = &level; at; at = findLevel(at->includes))
    StringRef(at->features).split(features, ',');
  return features;
}

//===----------------------------------------------------------------------===//
// Asking an x86 CPU
//===----------------------------------------------------------------------===//

namespace {

/// The words of CPUID that tell features.
enum Word {
  Leaf1Ecx,
  Leaf7Ebx,
  Leaf7Ecx,
  Leaf7Edx,
  Leaf7SubEax,
  ExtendedEcx,
  NumWords
};

/// Which registers the system must save: bits of XCR0.
enum State : int32_t { None = 0, Ymm = 0x6, Zmm = 0xe6, Tiles = 0x60000 };
/// Of Tiles, what Linux saves for processes that have asked for it.
static constexpr int32_t tileData = 1 << 18;

struct FeatureBit {
  StringLiteral name;
  Word word;
  unsigned bit;
  State state;
};

} // namespace

/// Intel SDM volume 2, CPUID; the names are LLVM's.
static constexpr FeatureBit featureBits[] = {
    {"sse3", Leaf1Ecx, 0, None},         {"ssse3", Leaf1Ecx, 9, None},
    {"fma", Leaf1Ecx, 12, Ymm},          {"cx16", Leaf1Ecx, 13, None},
    {"sse4.1", Leaf1Ecx, 19, None},      {"sse4.2", Leaf1Ecx, 20, None},
    {"movbe", Leaf1Ecx, 22, None},       {"popcnt", Leaf1Ecx, 23, None},
    {"avx", Leaf1Ecx, 28, Ymm},          {"f16c", Leaf1Ecx, 29, Ymm},
    {"bmi", Leaf7Ebx, 3, None},          {"avx2", Leaf7Ebx, 5, Ymm},
    {"bmi2", Leaf7Ebx, 8, None},         {"avx512f", Leaf7Ebx, 16, Zmm},
    {"avx512dq", Leaf7Ebx, 17, Zmm},     {"avx512cd", Leaf7Ebx, 28, Zmm},
    {"avx512bw", Leaf7Ebx, 30, Zmm},     {"avx512vl", Leaf7Ebx, 31, Zmm},
    {"avx512vnni", Leaf7Ecx, 11, Zmm},   {"avxvnni", Leaf7SubEax, 4, Ymm},
    {"avx512bf16", Leaf7SubEax, 5, Zmm}, {"sahf", ExtendedEcx, 0, None},
    {"lzcnt", ExtendedEcx, 5, None},     {"amx-bf16", Leaf7Edx, 22, Tiles},
    {"amx-tile", Leaf7Edx, 24, Tiles},   {"amx-int8", Leaf7Edx, 25, Tiles},
};

/// What a level stands for, as bits that must be set.
namespace {
struct Mask {
  uint32_t words[NumWords] = {};
  uint32_t state = None;
};
} // namespace

static Mask maskOf(const Level &level) {
  Mask mask;
  for (StringRef name : featuresOf(level)) {
    const FeatureBit *bit = llvm::find_if(
        featureBits, [&](const FeatureBit &b) { return name == b.name; });
    assert(bit != std::end(featureBits) && "every feature has a bit");
    mask.words[bit->word] |= 1u << bit->bit;
    mask.state |= bit->state;
  }
  return mask;
}

namespace {
/// Code for the questions, in straight lines and guarded steps.
class Probe {
public:
  explicit Probe(ImplicitLocOpBuilder &b) : b(b) {}

  Value i32(int64_t value) {
    return arith::ConstantIntOp::create(b, int32_t(value), 32);
  }
  Value bit(Value word, unsigned bit) {
    Value masked = arith::AndIOp::create(b, word, i32(int32_t(1u << bit)));
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, masked, i32(0));
  }
  Value has(Value word, uint32_t mask) {
    Value masked = arith::AndIOp::create(b, word, i32(int32_t(mask)));
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, masked,
                                 i32(int32_t(mask)));
  }
  Value atLeast(Value x, int64_t y) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::uge, x, i32(y));
  }
  /// `word` where `condition` holds, else nothing is there.
  Value onlyIf(Value condition, Value word) {
    return arith::SelectOp::create(b, condition, word, i32(0));
  }
  /// eax, ebx, ecx, edx.
  SmallVector<Value> cpuid(int64_t leaf, int64_t subleaf) {
    SmallVector<Type> words(4, b.getI32Type());
    auto type = LLVM::LLVMStructType::getLiteral(b.getContext(), words);
    return assembly(type, {i32(leaf), i32(subleaf)}, "cpuid",
                    "={ax},={bx},={cx},={dx},{ax},{cx},"
                    "~{dirflag},~{fpsr},~{flags}");
  }
  /// The low half of XCR0, where the system offers it: elsewhere the instruction
  /// faults.
  Value xcr0(Value isOffered) {
    Block *from = b.getInsertionBlock();
    Region *region = from->getParent();
    Block *ask = b.createBlock(region, region->end());
    Block *after =
        b.createBlock(region, region->end(), {b.getI32Type()}, {b.getLoc()});
    b.setInsertionPointToEnd(from);
    cf::CondBranchOp::create(b, isOffered, ask, ValueRange{}, after,
                             ValueRange{i32(0)});
    b.setInsertionPointToStart(ask);
    SmallVector<Type> words(2, b.getI32Type());
    auto type = LLVM::LLVMStructType::getLiteral(b.getContext(), words);
    SmallVector<Value> halves =
        assembly(type, {i32(0)}, "xgetbv",
                 "={ax},={dx},{cx},~{dirflag},~{fpsr},~{flags}");
    cf::BranchOp::create(b, after, ValueRange{halves.front()});
    b.setInsertionPointToStart(after);
    return after->getArgument(0);
  }
  /// The low half of the state that Linux saves for this process, where it is to be
  /// asked: arch_prctl(ARCH_GET_XCOMP_PERM), which changes nothing.
  Value permitted(Value isAsked) {
    Block *from = b.getInsertionBlock();
    Region *region = from->getParent();
    Block *ask = b.createBlock(region, region->end());
    Block *after =
        b.createBlock(region, region->end(), {b.getI32Type()}, {b.getLoc()});
    b.setInsertionPointToStart(from);
    Type i64 = b.getI64Type();
    auto constant = [&](int64_t value) {
      return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
    };
    auto pointer = LLVM::LLVMPointerType::get(b.getContext());
    Value mask = LLVM::AllocaOp::create(b, pointer, i64, constant(1));
    b.setInsertionPointToEnd(from);
    cf::CondBranchOp::create(b, isAsked, ask, ValueRange{}, after,
                             ValueRange{i32(0)});
    b.setInsertionPointToStart(ask);
    LLVM::StoreOp::create(b, constant(0), mask);
    constexpr int64_t archPrctl = 158, getPermission = 0x1022;
    LLVM::InlineAsmOp::create(
        b, i64, ValueRange{constant(archPrctl), constant(getPermission), mask},
        "syscall",
        "={ax},{ax},{di},{si},~{rcx},~{r11},~{memory},"
        "~{dirflag},~{fpsr},~{flags}",
        /*has_side_effects=*/true, /*is_align_stack=*/false,
        LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr{},
        ArrayAttr{});
    Value low = LLVM::LoadOp::create(b, b.getI32Type(), mask);
    cf::BranchOp::create(b, after, ValueRange{low});
    b.setInsertionPointToStart(after);
    return after->getArgument(0);
  }

private:
  SmallVector<Value> assembly(LLVM::LLVMStructType type, ArrayRef<Value> inputs,
                              StringRef text, StringRef constraints) {
    Value all =
        LLVM::InlineAsmOp::create(
            b, type, inputs, text, constraints, /*has_side_effects=*/true,
            /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
            /*asm_dialect=*/LLVM::AsmDialectAttr{},
            /*operand_attrs=*/ArrayAttr{})
            .getRes();
    SmallVector<Value> words;
    for (unsigned i = 0, e = type.getBody().size(); i != e; ++i)
      words.push_back(LLVM::ExtractValueOp::create(b, all, i));
    return words;
  }

  ImplicitLocOpBuilder &b;
};
} // namespace

/// A local function of the module, whose body is to be written at the builder: one
/// of the LLVM dialect, so that data may hold its address.
static LLVM::LLVMFuncOp openFunction(ImplicitLocOpBuilder &b, StringRef name,
                                     ArrayRef<Type> arguments, bool isHot) {
  auto function = LLVM::LLVMFuncOp::create(
      b, name, LLVM::LLVMFunctionType::get(b.getI32Type(), arguments),
      LLVM::Linkage::Internal);
  if (!isHot)
    compileFast(function);
  b.setInsertionPointToStart(function.addEntryBlock(b));
  return function;
}

static int32_t placeOf(const Level &level) {
  return int32_t(&level - levels().begin());
}

/// Of `facet.cpu`: the CPU has been asked; it has this level.
static constexpr int32_t askedBit = 1;
static int32_t bitOf(const Level &level) {
  return int32_t(2u << placeOf(level));
}

/// int32_t facet.detect(void): the levels that this CPU has, and askedBit. Levels with
/// tile registers are looked for where the object has one.
static LLVM::LLVMFuncOp emitDetect(ImplicitLocOpBuilder &b,
                                   const InterfaceOptions &options) {
  OpBuilder::InsertionGuard guard(b);
  LLVM::LLVMFuncOp function =
      openFunction(b, "facet.detect", {}, /*isHot=*/false);
  Probe probe(b);

  Value last = probe.cpuid(0, 0)[0];
  Value lastExtended = probe.cpuid(0x80000000, 0)[0];
  // A leaf that does not exist answers with another one's words.
  Value has7 = probe.atLeast(last, 7);
  SmallVector<Value> leaf1 = probe.cpuid(1, 0), leaf7 = probe.cpuid(7, 0);
  Value has71 = arith::AndIOp::create(b, has7, probe.atLeast(leaf7[0], 1));
  Value words[NumWords];
  words[Leaf1Ecx] = leaf1[2];
  words[Leaf7Ebx] = probe.onlyIf(has7, leaf7[1]);
  words[Leaf7Ecx] = probe.onlyIf(has7, leaf7[2]);
  words[Leaf7Edx] = probe.onlyIf(has7, leaf7[3]);
  words[Leaf7SubEax] = probe.onlyIf(has71, probe.cpuid(7, 1)[0]);
  words[ExtendedEcx] = probe.onlyIf(probe.atLeast(lastExtended, 0x80000001),
                                    probe.cpuid(0x80000001, 0)[2]);
  Value saved = probe.xcr0(probe.bit(leaf1[2], /*bit=*/27)); // OSXSAVE

  Value found = probe.i32(askedBit);
  for (const Level &candidate : levels()) {
    bool hasTiles = candidate.dots == LevelDots::Tiles;
    if (candidate.arch != "x86_64" ||
        (hasTiles && !llvm::is_contained(options.levels, candidate.number)))
      continue;
    Mask mask = maskOf(candidate);
    Value has;
    auto require = [&](Value more) {
      has = has ? arith::AndIOp::create(b, has, more).getResult() : more;
    };
    for (auto [word, bits] : llvm::zip_equal(words, mask.words))
      if (bits)
        require(probe.has(word, bits));
    if (mask.state)
      require(probe.has(saved, mask.state));
    if (hasTiles)
      require(probe.has(probe.permitted(has), tileData));
    Value bit = probe.onlyIf(has, probe.i32(bitOf(candidate)));
    found = arith::OrIOp::create(b, found, bit);
  }
  LLVM::ReturnOp::create(b, found);
  return function;
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

/// The place in the table that max_level names, behind which no level is taken: that
/// of the level with this number, before all for one below, behind all for 0 and for
/// numbers that later versions may give.
static Value limitOf(ImplicitLocOpBuilder &b, Value cap) {
  auto i32 = [&](int64_t value) {
    return arith::ConstantIntOp::create(b, value, 32);
  };
  auto compare = [&](arith::CmpIPredicate predicate, int32_t number) {
    return arith::CmpIOp::create(b, predicate, cap, i32(number));
  };
  int32_t lowest = INT32_MAX;
  for (const Level &level : levels())
    lowest = std::min(lowest, level.number);
  Value limit = arith::SelectOp::create(
      b, compare(arith::CmpIPredicate::slt, lowest), i32(-1), i32(INT32_MAX));
  for (const Level &level : levels())
    limit = arith::SelectOp::create(
        b, compare(arith::CmpIPredicate::eq, level.number), i32(placeOf(level)),
        limit);
  return arith::SelectOp::create(b, compare(arith::CmpIPredicate::eq, 0),
                                 i32(INT32_MAX), limit);
}

/// The same where the object has one level, and every CPU of the architecture has it.
static LLVM::LLVMFuncOp emitBaseline(ImplicitLocOpBuilder &b, StringRef name,
                                     const InterfaceOptions &options) {
  assert(options.levels.size() == 1 && "levels to choose from are x86's");
  LLVM::LLVMFuncOp function =
      openFunction(b, name, {b.getI32Type()}, /*isHot=*/true);
  Probe probe(b);
  const Level &level = *findLevel(options.levels.front());
  Value number = probe.i32(level.number);
  Value limit = limitOf(b, function.getBody().front().getArgument(0));
  Value allowed = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, limit,
                                        probe.i32(placeOf(level)));
  LLVM::ReturnOp::create(b, probe.onlyIf(allowed, number));
  return function;
}

/// int32_t facet.level(int32_t cap): the level to use, or 0. Made when it is first
/// needed; all kernels of a module have the same levels.
static LLVM::LLVMFuncOp emitChoice(Constants &constants, Location loc,
                                   const InterfaceOptions &options) {
  static constexpr StringLiteral name = "facet.level", wordName = "facet.cpu";
  ModuleOp module = constants.getModule();
  if (auto made = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return made;
  ImplicitLocOpBuilder b(loc, loc.getContext());
  b.setInsertionPointToEnd(module.getBody());
  Type i32 = b.getI32Type();
  if (findLevel(options.levels.front())->arch != "x86_64")
    return emitBaseline(b, name, options);
  LLVM::GlobalOp::create(b, i32, /*isConstant=*/false, LLVM::Linkage::Internal,
                         wordName, b.getI32IntegerAttr(0), /*alignment=*/4);
  LLVM::LLVMFuncOp detect = emitDetect(b, options);
  LLVM::LLVMFuncOp function = openFunction(b, name, {i32}, /*isHot=*/true);
  Block *entry = b.getInsertionBlock();
  Block *ask = b.createBlock(&function.getBody(), function.end());
  Block *choose =
      b.createBlock(&function.getBody(), function.end(), {i32}, {loc});

  b.setInsertionPointToEnd(entry);
  Probe probe(b);
  Value address = LLVM::AddressOfOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext()), wordName);
  Value known = LLVM::LoadOp::create(
      b, i32, address, /*alignment=*/4, /*isVolatile=*/false,
      /*isNonTemporal=*/false, /*isInvariant=*/false,
      /*isInvariantGroup=*/false, LLVM::AtomicOrdering::monotonic);
  Value isKnown =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, known, probe.i32(0));
  cf::CondBranchOp::create(b, isKnown, choose, ValueRange{known}, ask,
                           ValueRange{});

  b.setInsertionPointToEnd(ask);
  Value asked = LLVM::CallOp::create(b, detect, ValueRange{}).getResult();
  LLVM::StoreOp::create(b, asked, address, /*alignment=*/4,
                        /*isVolatile=*/false, /*isNonTemporal=*/false,
                        /*isInvariantGroup=*/false,
                        LLVM::AtomicOrdering::monotonic);
  cf::BranchOp::create(b, choose, ValueRange{asked});

  b.setInsertionPointToEnd(choose);
  Value has = choose->getArgument(0), cap = entry->getArgument(0);
  Value limit = limitOf(b, cap);
  Value chosen = probe.i32(0);
  for (int32_t number : options.levels) {
    const Level &level = *findLevel(number);
    Value isLow = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, limit,
                                        probe.i32(placeOf(level)));
    Value allowed =
        arith::AndIOp::create(b, probe.has(has, bitOf(level)), isLow);
    chosen = arith::SelectOp::create(b, allowed, probe.i32(number), chosen);
  }
  LLVM::ReturnOp::create(b, chosen);
  return function;
}

Value facet::interface::chooseLevel(Function &f, Emission &emission) {
  LLVM::LLVMFuncOp choice =
      emitChoice(emission.constants, emission.loc(), emission.options);
  Value cap = f.load(f.i32Type(), f.exec, offsetof(facet_exec, max_level));
  return LLVM::CallOp::create(f.b, choice, cap).getResult();
}

Value facet::interface::hasLevel(Function &f, Emission &emission, Value number,
                                 Value highest) {
  LLVM::LLVMFuncOp choice =
      emitChoice(emission.constants, emission.loc(), emission.options);
  Value chosen = LLVM::CallOp::create(f.b, choice, number).getResult();
  Value isHere =
      arith::CmpIOp::create(f.b, arith::CmpIPredicate::eq, chosen, number);
  Value isLow =
      arith::CmpIOp::create(f.b, arith::CmpIPredicate::sle,
                            limitOf(f.b, number), limitOf(f.b, highest));
  return arith::AndIOp::create(f.b, isHere, isLow);
}

Value facet::interface::highestLevel(Function &f, Emission &emission) {
  LLVM::LLVMFuncOp choice =
      emitChoice(emission.constants, emission.loc(), emission.options);
  return LLVM::CallOp::create(f.b, choice, f.i32(0)).getResult();
}

std::string facet::interface::emitLevelQuery(Emission &emission) {
  static constexpr StringLiteral name = "facet.level_of";
  ModuleOp module = emission.constants.getModule();
  if (module.lookupSymbol(name))
    return name.str();
  ImplicitLocOpBuilder b(emission.loc(), module.getContext());
  b.setInsertionPointToEnd(module.getBody());
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Type i32 = b.getI32Type();
  LLVM::LLVMFuncOp function = openFunction(b, name, pointer, /*isHot=*/false);
  Probe probe(b);
  if (!emission.hasLevels()) {
    LLVM::ReturnOp::create(b, probe.i32(FACET_LEVEL_ANY));
    return name.str();
  }
  Block *entry = b.getInsertionBlock();
  Block *read = b.createBlock(&function.getBody(), function.end());
  Block *choose = b.createBlock(&function.getBody(), function.end(), {i32},
                                {emission.loc()});
  b.setInsertionPointToEnd(entry);
  Value exec = entry->getArgument(0);
  Value isNull = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, exec,
                                      LLVM::ZeroOp::create(b, pointer));
  cf::CondBranchOp::create(b, isNull, choose, ValueRange{probe.i32(0)}, read,
                           ValueRange{});
  b.setInsertionPointToEnd(read);
  Value member = LLVM::GEPOp::create(
      b, pointer, b.getI8Type(), exec,
      ArrayRef<LLVM::GEPArg>{int32_t(offsetof(facet_exec, max_level))});
  Value cap = LLVM::LoadOp::create(b, i32, member);
  cf::BranchOp::create(b, choose, ValueRange{cap});
  b.setInsertionPointToEnd(choose);
  LLVM::LLVMFuncOp choice =
      emitChoice(emission.constants, emission.loc(), emission.options);
  Value level =
      LLVM::CallOp::create(b, choice, choose->getArgument(0)).getResult();
  Value isNone =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, level, probe.i32(0));
  Value result =
      arith::SelectOp::create(b, isNone, probe.i32(FACET_E_LEVEL), level);
  LLVM::ReturnOp::create(b, result);
  return name.str();
}
