//===- InstructionTable.cpp - Instructions.def as tables to walk ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gathers the flat lines of Instructions.def into one OpcodeInfo per opcode
//
//   FACET_OPCODE(Fill, ...)  FACET_OPERAND(Fill, 0, "dst", ...)  FACET_FIELD(...)
//     -> OpcodeInfo{Fill, "fill", operands: [dst], fields: [value], flags: []}
//
// so that encoder, decoder, assembler, disassembler, checker and manual are loops
// over a table and know no opcode by name.
//
//===----------------------------------------------------------------------===//

#include "facet/Isa/Program.h"

#include "llvm/ADT/StringMap.h"

#include <cstring>

using namespace facet;

//===----------------------------------------------------------------------===//
// Opcodes
//===----------------------------------------------------------------------===//

static std::vector<OpcodeInfo> buildTable() {
  std::vector<OpcodeInfo> table;
  auto of = [&](Opcode opcode) -> OpcodeInfo & {
    for (OpcodeInfo &info : table)
      if (info.opcode == opcode)
        return info;
    return table.front();
  };
#define FACET_OPCODE(Name, code, mnemonic, engines, summary, description)      \
  table.push_back(                                                             \
      {Opcode::Name, mnemonic, engines, summary, description, {}, {}, {}});
#include "facet/Isa/Instructions.def"
#define FACET_OPERAND(Name, slot, name, mode, spaces, types, need, doc)        \
  of(Opcode::Name)                                                             \
      .operands.push_back({slot, name, OperandMode::mode, spaces,              \
                           TypeSet::types, Need::need, doc});
#define FACET_FIELD(Name, Where, name, Kind, defaultBits, doc)                 \
  of(Opcode::Name)                                                             \
      .fields.push_back(                                                       \
          {FieldPlace::Where, name, FieldKind::Kind, defaultBits, doc});
#define FACET_FLAG(Name, bit, name, doc)                                       \
  of(Opcode::Name).flags.push_back({bit, name, doc});
#include "facet/Isa/Instructions.def"
  return table;
}

static const std::vector<OpcodeInfo> &opcodeTable() {
  static const std::vector<OpcodeInfo> table = buildTable();
  return table;
}

llvm::ArrayRef<OpcodeInfo> facet::opcodeInfos() { return opcodeTable(); }

const OpcodeInfo *facet::opcodeInfo(uint16_t opcode) {
  static const std::vector<const OpcodeInfo *> byCode = [] {
    std::vector<const OpcodeInfo *> codes(256);
    for (const OpcodeInfo &info : opcodeTable())
      codes[unsigned(info.opcode)] = &info;
    return codes;
  }();
  return opcode < byCode.size() ? byCode[opcode] : nullptr;
}

const OpcodeInfo *facet::opcodeByMnemonic(llvm::StringRef mnemonic) {
  static const llvm::StringMap<const OpcodeInfo *> byName = [] {
    llvm::StringMap<const OpcodeInfo *> names;
    for (const OpcodeInfo &info : opcodeTable())
      names[info.mnemonic] = &info;
    return names;
  }();
  return byName.lookup(mnemonic);
}

bool OpcodeInfo::runsOn(Engine engine) const {
  return std::strchr(engines, "tvsgy"[unsigned(engine)]) != nullptr;
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

const char *facet::engineName(Engine engine) {
  static const char *const names[] = {"tensor", "vector", "scalar", "gpsimd",
                                      "sync"};
  return names[unsigned(engine)];
}

const char *facet::spaceName(Space space) {
  static const char *const names[] = {"sbuf", "psum", "hbm", "index"};
  return names[unsigned(space)];
}

const char *facet::bufferKindName(BufferKind kind) {
  static const char *const names[] = {"in",    "out",  "inout",
                                      "const", "data", "scratch"};
  return names[unsigned(kind)];
}

namespace {
struct Word {
  const char *text;
  unsigned number;
  const char *doc;
};
} // namespace

static const Word dtypeWords[] = {
#define FACET_DTYPE(Name, code, text, bits, doc) {text, bits, doc},
#include "facet/Isa/Instructions.def"
};
static const Word aluWords[] = {
#define FACET_ALU(Name, code, text, inputs, doc) {text, inputs, doc},
#include "facet/Isa/Instructions.def"
};
static const Word functionWords[] = {
#define FACET_FUNCTION(Name, code, text, doc) {text, 0, doc},
#include "facet/Isa/Instructions.def"
};
static_assert(std::size(dtypeWords) == numDTypes &&
                  std::size(aluWords) == numAlus &&
                  std::size(functionWords) == numFunctions,
              "the counts in Program.h follow Instructions.def");

const char *facet::dtypeName(DType dtype) {
  return dtypeWords[unsigned(dtype)].text;
}
const char *facet::dtypeDoc(DType dtype) {
  return dtypeWords[unsigned(dtype)].doc;
}
unsigned facet::dtypeBits(DType dtype) {
  return dtypeWords[unsigned(dtype)].number;
}
const char *facet::aluName(Alu op) { return aluWords[unsigned(op)].text; }
const char *facet::aluDoc(Alu op) { return aluWords[unsigned(op)].doc; }
unsigned facet::aluInputs(Alu op) { return aluWords[unsigned(op)].number; }
const char *facet::functionName(Function f) {
  return functionWords[unsigned(f)].text;
}
const char *facet::functionDoc(Function f) {
  return functionWords[unsigned(f)].doc;
}

bool facet::dtypeIsInteger(DType dtype) {
  switch (dtype) {
  case DType::I32:
  case DType::I16:
  case DType::I8:
  case DType::U8:
  case DType::I64:
    return true;
  default:
    return false;
  }
}

bool facet::dtypeIsFloat(DType dtype) { return !dtypeIsInteger(dtype); }

bool facet::aluIsBitwise(Alu op) {
  switch (op) {
  case Alu::And:
  case Alu::Or:
  case Alu::Xor:
  case Alu::Shl:
  case Alu::Shr:
  case Alu::Sar:
  case Alu::Not:
    return true;
  default:
    return false;
  }
}

//===----------------------------------------------------------------------===//
// Instruction words
//===----------------------------------------------------------------------===//

float Instruction::immFloat(unsigned i) const {
  float value;
  std::memcpy(&value, &imm[i], sizeof value);
  return value;
}

uint32_t facet::getField(const Instruction &instruction, FieldPlace place) {
  if (place <= FieldPlace::Imm1)
    return instruction.imm[unsigned(place)];
  return instruction.sub[unsigned(place) - unsigned(FieldPlace::Sub0)];
}

void facet::setField(Instruction &instruction, FieldPlace place,
                     uint32_t bits) {
  if (place <= FieldPlace::Imm1)
    instruction.imm[unsigned(place)] = bits;
  else
    instruction.sub[unsigned(place) - unsigned(FieldPlace::Sub0)] =
        uint8_t(bits);
}

bool facet::computesInIntegers(const Program &program, Engine engine,
                               const Instruction &instruction) {
  const OpcodeInfo *info = opcodeInfo(instruction.opcode);
  if (!info)
    return false;
  for (const FieldInfo &field : info->fields)
    if (field.kind == FieldKind::Alu &&
        llvm::StringRef(field.name) != "acc_op") {
      uint32_t op = getField(instruction, field.place);
      if (op < numAlus && aluIsBitwise(Alu(op)))
        return true;
    }
  if (engine != Engine::Gpsimd)
    return false;
  bool any = false;
  for (const OperandInfo &operand : info->operands) {
    const Access *access = program.access(instruction, operand.slot);
    if (!access || operand.mode != OperandMode::Read ||
        access->space == Space::Index)
      continue;
    if (!dtypeIsInteger(access->dtype))
      return false;
    any = true;
  }
  return any;
}

bool facet::valueIsInteger(const Program &program, Engine engine,
                           const Instruction &instruction) {
  switch (instruction.op()) {
  case Opcode::Fill:
  case Opcode::Select:
  case Opcode::AffineSelect: {
    const Access *dst = program.access(instruction, 0);
    return dst && dtypeIsInteger(dst->dtype);
  }
  default:
    return computesInIntegers(program, engine, instruction);
  }
}
