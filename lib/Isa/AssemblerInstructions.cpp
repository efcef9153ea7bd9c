//===- AssemblerInstructions.cpp - instructions and what they wait for ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "AssemblerImpl.h"
#include "Text.h"

using namespace facet;
using llvm::StringRef;
using llvm::Twine;

bool Assembler::semaphoreRef(unsigned &semaphore, int &ring) {
  std::string word;
  if (!name(word, "a semaphore"))
    return false;
  auto at = semaphoreNames.find(word);
  if (at != semaphoreNames.end()) {
    semaphore = at->second;
  } else if (!number(word, 's', unsigned(program.semaphores.size()),
                     semaphore)) {
    std::vector<StringRef> names;
    for (const SemaphoreInfo &s : program.semaphores)
      if (!s.name.empty())
        names.push_back(s.name);
    return unknown(word, "semaphore", names);
  }
  if (semaphore > 0x1ff)
    return fail("semaphore s" + Twine(semaphore) + " is beyond s511");
  ring = -1;
  if (!lexer.take("["))
    return true;
  unsigned index;
  if (!name(word, "r0 to r15"))
    return false;
  if (!number(word, 'r', numRings, index))
    return failName("want r0 to r15, found '" + word + "'");
  ring = int(index);
  return expect("]");
}

/// wait(full[r0] >= 16 + 16*round)
bool Assembler::wait(Instruction &i) {
  Wait &w = i.waits[0].ref.present() ? i.waits[1] : i.waits[0];
  if (w.ref.present())
    return fail("more than 2 waits; put the others on a nop before");
  unsigned semaphore;
  int ring;
  if (!expect("(") || !semaphoreRef(semaphore, ring))
    return false;
  bool equal = lexer.take("==");
  if (!equal && !lexer.take(">="))
    return fail("want >= or == here, found " + lexer.found());
  int64_t value, perRound = 0;
  if (!integer(value, INT32_MIN, INT32_MAX, "the value"))
    return false;
  bool minus = lexer.take("-");
  if (minus || lexer.take("+")) {
    if (!integer(perRound, 0, minus ? 32768 : 32767, "the value per round"))
      return false;
    if (!lexer.take("*") || !lexer.takeWord("round"))
      return fail("want '*round' here, found " + lexer.found());
    if (ring < 0)
      return fail("rounds are those of a ring; write the semaphore with one, "
                  "as s0[r0]");
  }
  w.ref = SemaphoreRef::get(semaphore, ring, equal);
  w.value = int32_t(value);
  w.perRound = int16_t(minus ? -perRound : perRound);
  return expect(")");
}

/// update(done += 1)
bool Assembler::update(Instruction &i) {
  Update &u = i.updates[0].ref.present() ? i.updates[1] : i.updates[0];
  if (u.ref.present())
    return fail("more than 2 updates; put the others on a nop after");
  unsigned semaphore;
  int ring;
  if (!expect("(") || !semaphoreRef(semaphore, ring))
    return false;
  bool minus = lexer.take("-=");
  if (!minus && !lexer.take("+="))
    return fail("want += or -= here, found " + lexer.found());
  int64_t amount;
  if (!integer(amount, 1, minus ? 32768 : 32767, "the amount"))
    return false;
  u.ref = SemaphoreRef::get(semaphore, ring);
  u.amount = int16_t(minus ? -amount : amount);
  return expect(")");
}

/// loc("k.facet":12:3, "matmul s")
bool Assembler::location(uint32_t &result) {
  Location l;
  int64_t line, column;
  if (!expect("(") || !string(l.file, "a file") || !expect(":") ||
      !integer(line, 0, UINT32_MAX, "a line") || !expect(":") ||
      !integer(column, 0, UINT32_MAX, "a column"))
    return false;
  if (lexer.take(",") && !string(l.op, "an operation"))
    return false;
  l.line = uint32_t(line);
  l.column = uint32_t(column);
  result = builder.location(l);
  return expect(")");
}

bool Assembler::fieldValue(Instruction &i, const FieldInfo &field) {
  int64_t value;
  std::string word;
  switch (field.kind) {
  case FieldKind::Count:
    if (!integer(value, 0,
                 field.place <= FieldPlace::Imm1 ? int64_t(UINT32_MAX) : 255,
                 field.name))
      return false;
    break;
  case FieldKind::DmaRing:
    if (!integer(value, 0, 255, field.name))
      return false;
    break;
  case FieldKind::Signed:
    if (!integer(value, 0, INT32_MAX, field.name))
      return false;
    break;
  case FieldKind::Float:
  case FieldKind::Value:
    if (!lexer.takeNumberText(word))
      return fail(Twine("want a number for ") + field.name + ", found " +
                  lexer.found());
    values.emplace_back(&field, word);
    return true;
  case FieldKind::Alu:
  case FieldKind::Compare: {
    if (!name(word, "an operation"))
      return false;
    std::vector<StringRef> names;
    for (unsigned op = 0; op != numAlus; ++op)
      names.push_back(aluName(Alu(op)));
    auto at = llvm::find(names, word);
    if (at == names.end())
      return unknown(word, "operation", names);
    value = at - names.begin();
    break;
  }
  case FieldKind::Function: {
    if (!name(word, "a function"))
      return false;
    std::vector<StringRef> names;
    for (unsigned f = 0; f != numFunctions; ++f)
      names.push_back(functionName(Function(f)));
    auto at = llvm::find(names, word);
    if (at == names.end())
      return unknown(word, "function", names);
    value = at - names.begin();
    break;
  }
  case FieldKind::Pass: {
    static const StringRef names[] = {"all", "low", "high"};
    if (!name(word, "all, low or high"))
      return false;
    const auto *at = llvm::find(names, word);
    if (at == std::end(names))
      return unknown(word, "pass", names);
    value = at - names;
    break;
  }
  case FieldKind::Ring: {
    unsigned index;
    if (!name(word, "r0 to r15"))
      return false;
    if (!number(word, 'r', numRings, index))
      return failName("want r0 to r15, found '" + word + "'");
    value = index;
    break;
  }
  case FieldKind::Semaphore: {
    unsigned semaphore;
    int ring;
    if (!semaphoreRef(semaphore, ring))
      return false;
    if (ring >= 0)
      return fail("a ring has no place here");
    value = semaphore;
    break;
  }
  case FieldKind::Jump:
    return false; // has no name, so no text asks for it
  }
  setField(i, field.place, uint32_t(value));
  return true;
}

bool Assembler::item(Instruction &i, const OpcodeInfo &info, uint32_t &at) {
  std::string word;
  if (!name(word, "an operand, a field or a flag"))
    return false;
  if (word == "wait")
    return wait(i);
  if (word == "update")
    return update(i);
  if (word == "if")
    return predicate(i.predicate);
  if (word == "loc")
    return location(at);
  for (const FlagInfo &f : info.flags)
    if (word == f.name) {
      if (i.has(uint16_t(1u << f.bit)))
        return failName("'" + word + "' is given twice");
      i.flags |= uint16_t(1u << f.bit);
      return true;
    }
  for (const OperandInfo &o : info.operands)
    if (word == o.name) {
      if (i.operands[o.slot])
        return failName("'" + word + "' is given twice");
      Access a;
      if (!expect("=") || !access(a))
        return false;
      i.operands[o.slot] = builder.access(a);
      return true;
    }
  for (const FieldInfo &f : info.fields)
    if (word == f.name)
      return expect("=") && fieldValue(i, f);
  std::vector<StringRef> allowed;
  for (const OperandInfo &o : info.operands)
    allowed.push_back(o.name);
  for (const FieldInfo &f : info.fields)
    if (*f.name)
      allowed.push_back(f.name);
  for (const FlagInfo &f : info.flags)
    allowed.push_back(f.name);
  for (const char *common : {"if", "wait", "update", "loc"})
    allowed.push_back(common);
  return unknown(word, Twine("part of ") + info.mnemonic, allowed);
}

bool Assembler::instruction() {
  if (!inQueue)
    return fail(
        "an instruction belongs to a queue; open one with .queue first");
  Place start = lexer.place();
  std::string mnemonic;
  if (!name(mnemonic, "an instruction"))
    return false;
  const OpcodeInfo *info = opcodeByMnemonic(mnemonic);
  if (!info) {
    std::vector<StringRef> names;
    for (const OpcodeInfo &o : opcodeInfos())
      names.push_back(o.mnemonic);
    return unknown(mnemonic, "instruction", names);
  }
  Instruction i = ProgramBuilder::make(info->opcode);
  uint32_t at = 0;
  values.clear();
  bool good = true;
  if (!lexer.atLineEnd())
    do
      good = item(i, *info, at);
    while (good && lexer.take(","));
  good = good && finishLine();
  // How a value is spelled depends on the operands: floats have a point.
  bool integers = valueIsInteger(program, engine, i);
  for (const auto &[field, spelled] : values) {
    if (!good)
      break;
    int64_t whole;
    if (field->kind == FieldKind::Value && integers) {
      if (StringRef(spelled).getAsInteger(0, whole) || whole < INT32_MIN ||
          whole > INT32_MAX)
        good = fail(Twine(field->name) + " is '" + spelled + "', want an i32");
      else
        setField(i, field->place, uint32_t(int32_t(whole)));
    } else if (std::optional<uint32_t> bits = text::parseFloat(spelled)) {
      setField(i, field->place, *bits);
    } else {
      good = fail(Twine(field->name) + " is '" + spelled + "', want an f32");
    }
  }
  // Loops are tracked in faulty lines too, so that one mistake is one message.
  Queue &queue = queueNow();
  uint32_t pc = uint32_t(queue.code.size());
  if (i.op() == Opcode::Loop) {
    openLoops.push_back(pc);
  } else if (i.op() == Opcode::End) {
    if (openLoops.empty()) {
      diags.error(start, "end without a loop");
      return false;
    }
    i.imm[1] = openLoops.back();
    queue.code[openLoops.back()].imm[1] = pc;
    openLoops.pop_back();
  }
  queue.code.push_back(i);
  queue.locations.push_back(at);
  places[unsigned(engine)].push_back(start);
  return good;
}
