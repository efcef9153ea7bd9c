//===- Disassembler.cpp - programs as text --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints a program in the one canonical spelling, all of it, so that assembling
// the text gives the same file byte for byte:
//
//   .queue tensor
//     .ring r0 depth=3
//     loop trips=8
//       matmul dst=psum.f32[0:128, 0, 512], moving=sbuf.bf16[0:128, 2048*r0, 512],
//              start, stop, wait(full[r0] >= 16 + 16*round), update(done += 1)
//
// (on one line). Fields at their default, dense steps and strides are left out;
// the assembler puts them back.
//
//===----------------------------------------------------------------------===//

#include "Text.h"

#include "facet/Isa/Assembler.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace facet;

//===----------------------------------------------------------------------===//
// Expressions and accesses
//===----------------------------------------------------------------------===//

/// `0x400 + 2048*i0 - 64*i1 + 4096*r0`; `hex` for byte addresses.
static void printSum(llvm::raw_ostream &os, int64_t base,
                     const AffineForm *form, bool hex) {
  bool first = true;
  auto term = [&](int64_t coefficient, const llvm::Twine &name) {
    if (!coefficient)
      return;
    bool negative = coefficient < 0;
    uint64_t size = negative ? -uint64_t(coefficient) : uint64_t(coefficient);
    if (first)
      os << (negative ? "-" : "");
    else
      os << (negative ? " - " : " + ");
    first = false;
    if (size != 1)
      os << size << '*';
    os << name;
  };
  bool anyTerm =
      form && (form->slotStride ||
               llvm::any_of(form->coefficients, [](int64_t c) { return c; }));
  if (base || !anyTerm) {
    uint64_t size = base < 0 ? -uint64_t(base) : uint64_t(base);
    os << (base < 0 ? "-" : "");
    if (hex && size > 9)
      os << "0x" << llvm::utohexstr(size, /*LowerCase=*/true);
    else
      os << size;
    first = false;
  }
  if (!form)
    return;
  for (unsigned d = 0; d != maxLoops; ++d)
    term(form->coefficients[d], "i" + llvm::Twine(d));
  if (form->ring >= 0)
    term(form->slotStride, "r" + llvm::Twine(form->ring));
}

static void printAccess(llvm::raw_ostream &os, const Program &program,
                        const Access &a) {
  os << spaceName(a.space) << '.' << dtypeName(a.dtype) << '[';
  if (a.space == Space::Sbuf || a.space == Space::Psum) {
    os << a.partition << ':' << a.partition + a.partitions;
  } else {
    if (a.space == Space::Hbm)
      os << program.buffers[a.buffer].name << ", ";
    os << a.partitions;
    if (a.rowStep != text::denseRowStep(a))
      os << '@' << a.rowStep;
  }
  os << ", ";
  const AffineForm *form = a.affine ? &program.affines[a.affine - 1] : nullptr;
  printSum(os, a.offset + (form ? form->base : 0), form,
           a.space != Space::Index);
  for (unsigned d = 0; d != a.rank; ++d) {
    os << ", " << a.count[d];
    if (a.step[d] != text::denseStep(a, d))
      os << '@' << a.step[d];
  }
  os << ']';
}

std::string facet::printAccess(const Program &program, unsigned queue,
                               const Access &access) {
  (void)queue;
  std::string out;
  llvm::raw_string_ostream os(out);
  ::printAccess(os, program, access);
  return out;
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

static void printSemaphore(llvm::raw_ostream &os, const Program &program,
                           unsigned semaphore, int ring) {
  if (semaphore < program.semaphores.size() &&
      !program.semaphores[semaphore].name.empty())
    os << program.semaphores[semaphore].name;
  else
    os << 's' << semaphore;
  if (ring >= 0)
    os << "[r" << ring << ']';
}

static void printField(llvm::raw_ostream &os, const Program &program,
                       Engine engine, const Instruction &instruction,
                       const FieldInfo &field, uint32_t bits) {
  switch (field.kind) {
  case FieldKind::Count:
  case FieldKind::DmaRing:
    os << bits;
    break;
  case FieldKind::Signed:
    os << int32_t(bits);
    break;
  case FieldKind::Float:
    os << text::printFloat(bits);
    break;
  case FieldKind::Value:
    if (valueIsInteger(program, engine, instruction))
      os << int32_t(bits);
    else
      os << text::printFloat(bits);
    break;
  case FieldKind::Alu:
  case FieldKind::Compare:
    os << aluName(Alu(bits));
    break;
  case FieldKind::Function:
    os << functionName(Function(bits));
    break;
  case FieldKind::Pass:
    os << (bits == 0 ? "all" : bits == 1 ? "low" : "high");
    break;
  case FieldKind::Ring:
    os << 'r' << bits;
    break;
  case FieldKind::Semaphore:
    printSemaphore(os, program, bits, -1);
    break;
  case FieldKind::Jump:
    break;
  }
}

static void printWait(llvm::raw_ostream &os, const Program &program,
                      const Wait &w) {
  os << "wait(";
  printSemaphore(os, program, w.ref.base(), w.ref.ring());
  os << (w.ref.equal() ? " == " : " >= ") << w.value;
  if (w.perRound)
    os << (w.perRound < 0 ? " - " : " + ") << std::abs(int(w.perRound))
       << "*round";
  os << ')';
}

static void printUpdate(llvm::raw_ostream &os, const Program &program,
                        const Update &u) {
  os << "update(";
  printSemaphore(os, program, u.ref.base(), u.ref.ring());
  os << (u.amount < 0 ? " -= " : " += ") << std::abs(int(u.amount)) << ')';
}

static void printPredicate(llvm::raw_ostream &os, const Program &program,
                           const Predicate &p) {
  os << "if(";
  for (unsigned c = 0; c != p.conditions; ++c) {
    const AffineForm &form = program.affines[p.forms[c]];
    os << (c ? ", " : "");
    printSum(os, form.base, &form, /*hex=*/false);
    os << ' ' << text::compares[p.compares[c]] << " 0";
  }
  os << ')';
}

static void printInstruction(llvm::raw_ostream &os, const Program &program,
                             const Queue &queue, const Instruction &i,
                             uint32_t location) {
  const OpcodeInfo *info = opcodeInfo(i.opcode);
  if (!info) {
    os << "opcode(" << i.opcode << ')';
    return;
  }
  os << info->mnemonic;
  bool first = true;
  auto comma = [&]() -> llvm::raw_ostream & {
    os << (first ? " " : ", ");
    first = false;
    return os;
  };
  for (const OperandInfo &o : info->operands)
    if (const Access *a = program.access(i, o.slot)) {
      comma() << o.name << '=';
      printAccess(os, program, *a);
    }
  for (const FieldInfo &f : info->fields) {
    uint32_t bits = getField(i, f.place);
    // What an instruction is about is written even at its default.
    bool always = f.kind == FieldKind::Ring || f.kind == FieldKind::Semaphore ||
                  f.kind == FieldKind::Signed || i.op() == Opcode::Loop;
    if (f.kind == FieldKind::Jump || (bits == f.defaultBits && !always))
      continue;
    comma() << f.name << '=';
    printField(os, program, queue.engine, i, f, bits);
  }
  for (const FlagInfo &f : info->flags)
    if (i.has(uint16_t(1u << f.bit)))
      comma() << f.name;
  if (i.predicate) {
    comma();
    printPredicate(os, program, program.predicates[i.predicate - 1]);
  }
  for (const Wait &w : i.waits)
    if (w.ref.present()) {
      comma();
      printWait(os, program, w);
    }
  for (const Update &u : i.updates)
    if (u.ref.present()) {
      comma();
      printUpdate(os, program, u);
    }
  if (location) {
    const Location &l = program.locations[location - 1];
    comma() << "loc(" << text::quote(l.file) << ':' << l.line << ':'
            << l.column;
    if (!l.op.empty())
      os << ", " << text::quote(l.op);
    os << ')';
  }
}

std::string facet::printInstruction(const Program &program, unsigned queue,
                                    unsigned pc) {
  std::string out;
  llvm::raw_string_ostream os(out);
  ::printInstruction(os, program, program.queues[queue],
                     program.queues[queue].code[pc], 0);
  return out;
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

static void printMachine(llvm::raw_ostream &os, const Machine &machine) {
  os << ".machine " << text::quote(machine.name) << " {\n";
  for (const MachineParameter &p : machineParameters())
    if (p.machine == machine.kind)
      os << "  " << p.group << '.' << p.key << ' '
         << printMachineValue(machine, p) << '\n';
  os << "}\n";
}

/// Bytes as hex lines, with stretches of zeros counted.
static void printData(llvm::raw_ostream &os, llvm::ArrayRef<uint8_t> data) {
  while (!data.empty()) {
    size_t zeros = 0;
    while (zeros != data.size() && data[zeros] == 0)
      ++zeros;
    if (zeros >= 16 || zeros == data.size()) {
      os << "  .zeros " << zeros << '\n';
      data = data.drop_front(zeros);
      continue;
    }
    size_t n = std::min<size_t>(data.size(), 32);
    for (size_t run = 0, i = 0; i != n; ++i) {
      run = data[i] ? 0 : run + 1;
      if (run == 16) {
        n = i + 1 - run;
        break;
      }
    }
    os << "  .bytes \"" << llvm::toHex(data.take_front(n), /*LowerCase=*/true)
       << "\"\n";
    data = data.drop_front(n);
  }
}

static void printBuffer(llvm::raw_ostream &os, const Buffer &b) {
  auto list = [&](llvm::ArrayRef<int64_t> values) {
    os << '[';
    llvm::interleaveComma(values, os);
    os << ']';
  };
  os << ".buffer " << b.name << ' ' << bufferKindName(b.kind) << ' '
     << spaceName(b.space) << '.' << dtypeName(b.dtype);
  list(b.shape);
  if (b.strides != text::denseStrides(b.shape)) {
    os << " strides";
    list(b.strides);
  }
  os << " at 0x" << llvm::utohexstr(b.address, true) << " bytes " << b.bytes;
  if (b.partition || b.partitions)
    os << " partitions " << b.partition << ':' << b.partition + b.partitions;
  if (b.liveBegin || b.liveEnd)
    os << " live " << b.liveBegin << ':' << b.liveEnd;
  os << '\n';
  printData(os, b.data);
}

void facet::disassemble(
    const Program &program, llvm::raw_ostream &os,
    llvm::function_ref<std::string(unsigned queue, unsigned pc)> comment) {
  os << ".program 1\n";
  printMachine(os, program.machine);
  for (const auto &[key, value] : program.notes)
    os << ".note " << text::quote(key) << ' ' << text::quote(value) << '\n';
  for (const Buffer &b : program.buffers)
    printBuffer(os, b);
  for (size_t i = 0; i != program.semaphores.size(); ++i) {
    const SemaphoreInfo &s = program.semaphores[i];
    os << ".semaphore " << (s.name.empty() ? "s" + std::to_string(i) : s.name);
    if (s.initial)
      os << " initial=" << s.initial;
    if (s.final >= 0)
      os << " final=" << s.final;
    os << '\n';
  }
  for (unsigned q = 0; q != program.queues.size(); ++q) {
    const Queue &queue = program.queues[q];
    os << "\n.queue " << engineName(queue.engine) << '\n';
    for (const RingInfo &r : program.rings)
      if (r.queue == q) {
        os << "  .ring r" << r.ring << " depth=" << r.depth;
        if (!r.name.empty())
          os << " name=" << r.name;
        os << '\n';
      }
    unsigned depth = 1;
    for (size_t pc = 0; pc != queue.code.size(); ++pc) {
      const Instruction &i = queue.code[pc];
      if (i.op() == Opcode::End && depth > 1)
        --depth;
      if (comment)
        if (std::string text = comment(q, unsigned(pc)); !text.empty())
          os.indent(2 * depth) << "// " << text << '\n';
      os.indent(2 * depth);
      ::printInstruction(os, program, queue, i, queue.locations[pc]);
      os << '\n';
      if (i.op() == Opcode::Loop)
        ++depth;
    }
  }
}
