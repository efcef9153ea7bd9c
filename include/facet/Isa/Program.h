//===- Program.h - a program of the matrix engine, in memory --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a `.engine` file holds: the machine it is for, buffers, semaphores, rings,
// and one queue of 64-byte instructions per engine. Instructions name their
// operands by index into one table of accesses, and what depends on loop counters
// or rings by index into one table of affine forms:
//
//   queue sync:   loop 8
//                   dma_copy dst=<access 1>, src=<access 2>, wait, update
//                   advance r0
//                 end
//   access 1      sbuf bf16 partitions 0..127, offset 0, affine form 1, dims [512]
//   form 1        slot(r0) * 2048
//
// The meaning of every instruction is in Instructions.def (docs/InstructionSet.md).
// Container.h reads and writes files, Assembler.h text; Check.h holds a program
// to the rules that can be seen without running it; Timing.h says what each
// instruction costs.
//
// What orders what:
//  * An engine runs its queue in order, and each instruction reads and writes as
//    if the earlier ones of its queue had finished. (Timing.h says what a read of
//    a result that is still on its way costs.)
//  * Semaphores order queues: an instruction starts once its waits hold; its
//    updates happen when its result is visible.
//  * A transfer is only triggered by its queue. It starts after the earlier
//    instructions of that queue that are not transfers have finished, and after its waits; nothing but
//    the updates of the transfer itself says that it has ended.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_ISA_PROGRAM_H
#define FACET_ISA_PROGRAM_H

#include "facet/Machine/Machine.h"

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace facet {

//===----------------------------------------------------------------------===//
// Words of the instruction set
//===----------------------------------------------------------------------===//

/// The engines with an instruction queue, in the order of their queues.
enum class Engine : uint8_t { Tensor, Vector, Scalar, Gpsimd, Sync };
constexpr unsigned numEngines = 5;

/// Index: not a memory; the "address" of an element, counted in ones instead of
/// bytes, is its value (iota, affine_select).
enum class Space : uint8_t { Sbuf, Psum, Hbm, Index };

enum class DType : uint8_t {
#define FACET_DTYPE(Name, code, text, bits, doc) Name = code,
#include "facet/Isa/Instructions.def"
};
constexpr unsigned numDTypes = 13;

enum class Alu : uint8_t {
#define FACET_ALU(Name, code, text, inputs, doc) Name = code,
#include "facet/Isa/Instructions.def"
};
constexpr unsigned numAlus = 37;

enum class Function : uint8_t {
#define FACET_FUNCTION(Name, code, text, doc) Name = code,
#include "facet/Isa/Instructions.def"
};
constexpr unsigned numFunctions = 16;

enum class Opcode : uint16_t {
#define FACET_OPCODE(Name, code, mnemonic, engines, summary, description)      \
  Name = code,
#include "facet/Isa/Instructions.def"
};

/// The passes of an f32 product; see load_weights.
enum class Pass : uint8_t { All, Low, High };

/// Flag bits, as `Matmul_start`.
namespace flag {
enum : uint16_t {
#define FACET_FLAG(Name, bit, name, doc) FACET_FLAG_##Name##_##bit = 1u << bit,
#include "facet/Isa/Instructions.def"
};
// Names for code that reads flags.
constexpr uint16_t weightsDoubleRow = FACET_FLAG_LoadWeights_0;
constexpr uint16_t weightsForTranspose = FACET_FLAG_LoadWeights_1;
constexpr uint16_t matmulStart = FACET_FLAG_Matmul_0;
constexpr uint16_t matmulStop = FACET_FLAG_Matmul_1;
constexpr uint16_t matmulDoubleRow = FACET_FLAG_Matmul_2;
constexpr uint16_t saturate = FACET_FLAG_Copy_0; // wherever `sat` exists
constexpr uint16_t reverse0 =
    FACET_FLAG_TensorScalar_1; // and scalar_tensor_tensor
constexpr uint16_t reverse1 =
    FACET_FLAG_TensorScalar_2; // and scalar_tensor_tensor
constexpr uint16_t accCarry =
    FACET_FLAG_TensorScalar_3; // wherever `acc` exists
constexpr uint16_t reduceCarry = FACET_FLAG_Reduce_1;
} // namespace flag

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// A reference to a semaphore in a wait or an update: none, a fixed one, or a
/// row of them indexed by the slot of one of the queue's rings.
///   bits 0-8 semaphore · 9 equality (waits) · 10-14 ring + 1, 0 none · 15 present
struct SemaphoreRef {
  uint16_t bits = 0;

  static SemaphoreRef get(unsigned semaphore, int ring = -1,
                          bool equal = false) {
    return {uint16_t(0x8000u | (semaphore & 0x1ffu) | (equal ? 0x200u : 0u) |
                     (unsigned(ring + 1) & 0x1fu) << 10)};
  }
  bool present() const { return bits & 0x8000u; }
  /// The semaphore for slot 0.
  unsigned base() const { return bits & 0x1ffu; }
  bool equal() const { return bits & 0x200u; }
  /// The ring register, or -1.
  int ring() const { return int(bits >> 10 & 0x1fu) - 1; }
};

/// Holds the instruction until semaphore base + slot has reached (or, `equal`,
/// has) the value + perRound * round, slot and round being those of the ring; 0
/// without one. A value that is not positive is reached from the start.
struct Wait {
  SemaphoreRef ref;
  int16_t perRound = 0;
  int32_t value = 0;
};

/// Adds `amount` to semaphore base + slot when the instruction's result is
/// visible; a transfer does so once per DMA engine. The slot is that at issue.
struct Update {
  SemaphoreRef ref;
  int16_t amount = 0;
};

/// One instruction, as in the file (little-endian). Which members mean what for
/// an opcode is in Instructions.def; members an opcode does not use are 0.
struct Instruction {
  uint16_t opcode = 0;
  uint16_t flags = 0;
  Wait waits[2];
  Update updates[2];
  /// Index + 1 into Program::accesses, 0: operand not given.
  uint32_t operands[5] = {};
  uint32_t imm[2] = {};
  uint8_t sub[4] = {};
  /// Index + 1 into Program::predicates, 0: always. When the predicate is false
  /// the instruction does nothing at all: no wait, no update, no effect.
  uint16_t predicate = 0;
  uint16_t reserved = 0;

  Opcode op() const { return Opcode(opcode); }
  bool has(uint16_t bit) const { return flags & bit; }
  bool isTransfer() const {
    return op() == Opcode::DmaCopy || op() == Opcode::DmaTranspose ||
           op() == Opcode::DmaGather;
  }
  /// Operand slot -> index into Program::accesses, or -1.
  int operand(unsigned slot) const { return int(operands[slot]) - 1; }
  float immFloat(unsigned i) const;
};
static_assert(sizeof(Wait) == 8 && sizeof(Update) == 4);
static_assert(sizeof(Instruction) == 64,
              "instructions are 64 bytes in the file");

//===----------------------------------------------------------------------===//
// Tables that instructions name by index
//===----------------------------------------------------------------------===//

constexpr unsigned maxDims = 4;
constexpr unsigned maxLoops = 8;
constexpr unsigned numRings = 16;

/// The elements an operand touches: `partitions` rows, in each the same pattern
/// of up to four dimensions, dims[0] outermost. Element (p, i0, i1, ...) lies at
///
///   sbuf, psum: partition `partition` + p, byte offset + affine + e * bytes
///   hbm:        in buffer `buffer`, byte   offset + affine + (p * rowStep + e) * bytes
///   index:      the value                  offset + affine + p * rowStep + e
///
/// where e = i0 * step[0] + i1 * step[1] + ..., steps count elements and `bytes`
/// is the type's size. A rank of 0 is one element per row. PSUM offsets count
/// from the partition's first bank; bank = offset / bank_bytes.
struct Access {
  /// Bytes (ones for Space::Index).
  int64_t offset = 0;
  /// Index + 1 into Program::affines, 0: none.
  uint32_t affine = 0;
  /// Space::Hbm: index into Program::buffers; else 0.
  uint32_t buffer = 0;
  Space space = Space::Sbuf;
  DType dtype = DType::F32;
  uint8_t rank = 0;
  uint8_t reserved = 0;
  /// First partition; 0 for hbm and index.
  uint16_t partition = 0;
  uint16_t reserved2 = 0;
  /// Rows, at least 1.
  uint32_t partitions = 1;
  uint32_t reserved3 = 0;
  /// Elements (values for index) between rows; 0 on chip.
  int64_t rowStep = 0;
  int64_t step[maxDims] = {};
  uint32_t count[maxDims] = {};

  /// Elements per row.
  uint64_t elements() const {
    uint64_t n = 1;
    for (unsigned d = 0; d != rank; ++d)
      n *= count[d];
    return n;
  }
};
static_assert(sizeof(Access) == 88);

/// base + sum of coefficients[d] * counter of the loop at depth d, plus
/// slot(ring) * slotStride. In bytes when an access names it; plain numbers in a
/// predicate or a Space::Index access.
struct AffineForm {
  int64_t base = 0;
  int64_t coefficients[maxLoops] = {};
  int64_t slotStride = 0;
  /// Ring register of the queue, or -1.
  int32_t ring = -1;
  uint32_t reserved = 0;
};
static_assert(sizeof(AffineForm) == 88);

/// True when every condition holds: form `forms[i]` compared with 0. Predicates
/// see loop counters and ring slots of their instruction's queue.
struct Predicate {
  enum Compare : uint8_t { Eq, Ne, Lt, Le, Gt, Ge };
  uint32_t forms[4] = {}; // indices into Program::affines
  Compare compares[4] = {};
  uint32_t conditions = 0;
};
static_assert(sizeof(Predicate) == 24);

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

enum class BufferKind : uint8_t {
  In,    ///< given by the caller, read only
  Out,   ///< result, fully written by the program
  InOut, ///< given and written
  Const, ///< given by the caller, may be packed beforehand, read only
  Data,  ///< contents are in the program (identity matrices, masks), read only
  Scratch, ///< holds nothing before its first write
};

/// A named stretch of memory. HBM buffers are what accesses refer to; those on
/// chip document where values live (memory map, messages) and are not needed to
/// run.
struct Buffer {
  std::string name;
  Space space = Space::Hbm;
  DType dtype = DType::F32;
  BufferKind kind = BufferKind::Scratch;
  /// On chip: first partition and number; HBM: 0 and 0.
  uint16_t partition = 0, partitions = 0;
  /// HBM: byte address; on chip: byte offset in each partition.
  uint64_t address = 0;
  /// HBM: all bytes; on chip: bytes in each partition.
  uint64_t bytes = 0;
  /// On chip, in the compiler's order of statements; both 0 when not stated.
  uint32_t liveBegin = 0, liveEnd = 0;
  /// As the kernel declares it, outermost first, at most 8; strides in elements.
  std::vector<int64_t> shape, strides;
  /// BufferKind::Data: `bytes` bytes.
  std::vector<uint8_t> data;
};

/// All data buffers of a program together hold at most this many bytes.
constexpr uint64_t maxDataBytes = uint64_t(1) << 28;

struct SemaphoreInfo {
  std::string name; // may be empty
  int32_t initial = 0;
  /// What it holds when the program has ended; -1: anything.
  int32_t final = -1;
};

/// A ring register in use: register `ring` of queue `queue`.
struct RingInfo {
  uint32_t queue = 0; // index into Program::queues
  uint32_t ring = 0;
  uint32_t depth = 1;
  std::string name; // may be empty
};

/// Where an instruction comes from, in the user's source.
struct Location {
  std::string file;
  uint32_t line = 0, column = 0;
  std::string op; // "matmul s", may be empty
};

struct Queue {
  uint32_t core = 0; // one core for now
  Engine engine = Engine::Tensor;
  std::vector<Instruction> code;
  /// Parallel to `code`: index + 1 into Program::locations, 0: none.
  std::vector<uint32_t> locations;
};

struct Program {
  Machine machine; // an engine machine
  std::vector<Buffer> buffers;
  std::vector<SemaphoreInfo>
      semaphores; // numbers 0 .. size-1; the others are unused
  std::vector<RingInfo> rings;
  std::vector<Access> accesses;
  std::vector<AffineForm> affines;
  std::vector<Predicate> predicates;
  /// At most one per engine, in the order of Engine.
  std::vector<Queue> queues;
  std::vector<Location> locations;
  /// Compiler, kernel, plan, ... in order.
  std::vector<std::pair<std::string, std::string>> notes;
  /// SHA-256 of the required sections; set by readProgram and writeProgram.
  std::array<uint8_t, 32> buildId = {};

  // Interning: returns what instructions store (index + 1). Linear in the table;
  // ProgramBuilder is the fast way for large programs.
  uint32_t addAccess(const Access &access);
  uint32_t addAffine(const AffineForm &form);
  uint16_t addPredicate(const Predicate &predicate);
  /// The queue of an engine, made when there is none. References to queues are
  /// invalid afterwards.
  Queue &queue(Engine engine);

  const Access *access(const Instruction &instruction, unsigned slot) const {
    int index = instruction.operand(slot);
    return index < 0 ? nullptr : &accesses[index];
  }
  /// Depth of a ring register, or 0 when it is not declared.
  uint32_t ringDepth(unsigned queue, unsigned ring) const;
};

bool operator==(const Access &a, const Access &b);
bool operator==(const AffineForm &a, const AffineForm &b);
bool operator==(const Predicate &a, const Predicate &b);

//===----------------------------------------------------------------------===//
// The tables of Instructions.def, to be walked
//===----------------------------------------------------------------------===//

enum class OperandMode : uint8_t { Read, Write, Accumulate };
enum class Need : uint8_t { Required, Optional };

/// Which element types an operand takes. Machines without tensor.f8e4m3fn refuse
/// that type everywhere.
enum class TypeSet : uint8_t {
  Matmul,    ///< f32 tf32 bf16 f16 f8*
  F32Only,   ///<
  F32OrI32,  ///<
  I32Only,   ///<
  Wide,      ///< 16 and 32 bit types
  Compute,   ///< all but i64 f64
  Any,       ///< all
  IndexOnly, ///< i32 by convention: the values are exact 64-bit numbers
};

enum class FieldPlace : uint8_t { Imm0, Imm1, Sub0, Sub1, Sub2, Sub3 };

/// What a field holds and how text spells it.
enum class FieldKind : uint8_t {
  Count,     ///< unsigned
  Signed,    ///< i32
  Float,     ///< f32 bits
  Value,     ///< f32 or i32 bits; see valueIsInteger
  Alu,       ///<
  Compare,   ///< one of the six comparisons of Alu
  Function,  ///<
  Pass,      ///< all low high
  Ring,      ///< r0 .. r15
  DmaRing,   ///< number below dma.rings_per_engine
  Semaphore, ///< s0 .. or its name
  Jump,      ///< index of an instruction of the queue; implied in text
};

struct OperandInfo {
  unsigned slot;
  const char *name;
  OperandMode mode;
  const char *spaces; // letters s p h x
  TypeSet types;
  Need need;
  const char *doc;
};
struct FieldInfo {
  FieldPlace place;
  const char *name;
  FieldKind kind;
  uint32_t defaultBits;
  const char *doc;
};
struct FlagInfo {
  unsigned bit;
  const char *name;
  const char *doc;
};
struct OpcodeInfo {
  Opcode opcode;
  const char *mnemonic;
  const char *engines; // letters t v s g y
  const char *summary, *description;
  std::vector<OperandInfo> operands;
  std::vector<FieldInfo> fields;
  std::vector<FlagInfo> flags;
  bool runsOn(Engine engine) const;
};

/// All opcodes in the order of Instructions.def.
llvm::ArrayRef<OpcodeInfo> opcodeInfos();
/// The table line of an opcode, or null for a number that is none.
const OpcodeInfo *opcodeInfo(uint16_t opcode);
const OpcodeInfo *opcodeByMnemonic(llvm::StringRef mnemonic);

uint32_t getField(const Instruction &instruction, FieldPlace place);
void setField(Instruction &instruction, FieldPlace place, uint32_t bits);

const char *engineName(Engine engine); // "tensor"
const char *spaceName(Space space);    // "sbuf"
const char *dtypeName(DType dtype);
const char *aluName(Alu op);
const char *functionName(Function function);
const char *bufferKindName(BufferKind kind); // "in"
const char *aluDoc(Alu op);
const char *functionDoc(Function function);
const char *dtypeDoc(DType dtype);

unsigned dtypeBits(DType dtype);
inline unsigned dtypeBytes(DType dtype) { return dtypeBits(dtype) / 8; }
bool dtypeIsFloat(DType dtype); // f64 included
bool dtypeIsInteger(DType dtype);
/// 1 or 2: how many inputs an operation has.
unsigned aluInputs(Alu op);
bool aluIsBitwise(Alu op); // and or xor shl shr sar not

/// True when an instruction of this engine computes in i32: on gpsimd when all
/// its inputs hold integers, elsewhere when one of its operations is bitwise.
/// All others compute in f32: integer inputs are rounded to f32 first.
bool computesInIntegers(const Program &program, Engine engine,
                        const Instruction &instruction);

/// True when a FieldKind::Value field of this instruction holds an i32: fill,
/// select and affine_select by the type of dst, others by computesInIntegers.
bool valueIsInteger(const Program &program, Engine engine,
                    const Instruction &instruction);

} // namespace facet

#endif // FACET_ISA_PROGRAM_H
