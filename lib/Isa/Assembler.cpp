//===- Assembler.cpp - text to programs -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the text form, one statement per line. What an instruction may carry is
// looked up in the instruction table, so this file knows the grammar and no
// opcode:
//
//   matmul dst=psum.f32[0:128, 0, 512], moving=..., start, update(done += 1)
//   ^ opcodeByMnemonic  ^ operand        ^ operand   ^ flag  ^ synchronisation
//
// An error ends its line and reading goes on with the next, so that one run shows
// all mistakes. The result then passes the same checks and the same canonical
// form as a file.
//
//===----------------------------------------------------------------------===//

#include "AsmLexer.h"
#include "Format.h"
#include "Text.h"

#include "facet/Isa/Assembler.h"
#include "facet/Isa/Builder.h"
#include "facet/Isa/Check.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace facet;
using llvm::StringRef;
using llvm::Twine;

namespace {

/// A sum of counters, a ring and a constant.
struct Sum {
  AffineForm form;
  bool isConstant() const {
    return form.ring < 0 &&
           llvm::all_of(form.coefficients, [](int64_t c) { return !c; });
  }
};

class Assembler {
public:
  Assembler(StringRef text, StringRef file, Diagnostics &diags)
      : lexer(text, file, diags), file(file), diags(diags) {}
  std::optional<Program> run();

private:
  // Every parse function returns false after an error that has been said.
  bool statement();
  bool directive();
  bool machineBlock(StringRef name);
  bool bufferDirective();
  bool dataDirective(bool zeros);
  bool semaphoreDirective();
  bool queueDirective();
  bool ringDirective();
  bool instruction();
  bool item(Instruction &i, const OpcodeInfo &info, uint32_t &location);
  bool fieldValue(Instruction &i, const FieldInfo &field);
  bool access(Access &a);
  bool dimensions(Access &a);
  bool sum(Sum &result);
  bool term(Sum &result, int64_t sign);
  bool predicate(uint16_t &number);
  bool semaphoreRef(unsigned &semaphore, int &ring);
  bool wait(Instruction &i);
  bool update(Instruction &i);
  bool location(uint32_t &number);
  bool finishLine();

  // Small readers.
  bool expect(const char *punctuation);
  bool integer(int64_t &value, int64_t min, int64_t max, const Twine &what);
  bool name(std::string &text, const Twine &what);
  bool string(std::string &text, const Twine &what);
  bool list(std::vector<int64_t> &values);
  bool number(StringRef word, char letter, unsigned limit, unsigned &value);
  bool fail(const Twine &message) {
    diags.error(lexer.place(), message);
    return false;
  }
  /// About the name taken last.
  bool failName(const Twine &message) {
    diags.error(lexer.placeOfName(), message);
    return false;
  }
  bool unknown(StringRef word, const Twine &what,
               llvm::ArrayRef<StringRef> allowed);
  Queue &queueNow() { return program.queues[queueIndex()]; }
  unsigned queueIndex() const {
    for (unsigned q = 0; q != program.queues.size(); ++q)
      if (program.queues[q].engine == engine)
        return q;
    return 0;
  }

  AsmLexer lexer;
  StringRef file;
  Diagnostics &diags;
  ProgramBuilder builder{Machine()};
  Program &program = builder.get();
  bool haveMachine = false, inQueue = false;
  Engine engine = Engine::Tensor;
  std::vector<uint32_t> openLoops;
  llvm::StringMap<unsigned> bufferNames, semaphoreNames;
  /// Where each instruction stands, per engine.
  std::vector<Place> places[numEngines];
  /// Fields whose spelling depends on the operands: read at the end of the line.
  std::vector<std::pair<const FieldInfo *, std::string>> values;
  /// Queues that have been opened, to refuse a second `.queue` of one engine.
  bool opened[numEngines] = {};
};

} // namespace

//===----------------------------------------------------------------------===//
// Small readers
//===----------------------------------------------------------------------===//

bool Assembler::expect(const char *punctuation) {
  if (lexer.take(punctuation))
    return true;
  return fail(Twine("want '") + punctuation + "' here, found " + lexer.found());
}

bool Assembler::integer(int64_t &value, int64_t min, int64_t max,
                        const Twine &what) {
  Place at = lexer.place();
  bool negative = lexer.take("-");
  uint64_t size = 0;
  if (!lexer.takeInteger(size))
    return fail("want " + what + " here, found " + lexer.found());
  __int128 full = negative ? -__int128(size) : __int128(size);
  if (full < min || full > max) {
    diags.error(at, what + " is " + (negative ? "-" : "") + Twine(size) +
                        ", allowed are " + Twine(min) + " to " + Twine(max));
    return false;
  }
  value = int64_t(full);
  return true;
}

bool Assembler::name(std::string &text, const Twine &what) {
  if (lexer.takeName(text))
    return true;
  return fail("want " + what + " here, found " + lexer.found());
}

bool Assembler::string(std::string &text, const Twine &what) {
  bool bad = false;
  if (lexer.takeString(text, bad))
    return true;
  if (bad)
    return fail(
        "the string has no end on its line, a bad escape or is not UTF-8");
  return fail("want " + what + " in quotes here, found " + lexer.found());
}

bool Assembler::list(std::vector<int64_t> &values) {
  if (!expect("["))
    return false;
  if (lexer.take("]"))
    return true;
  do {
    int64_t value;
    if (!integer(value, INT64_MIN / 2, INT64_MAX / 2, "a number"))
      return false;
    values.push_back(value);
  } while (lexer.take(","));
  return expect("]");
}

/// `i3`, `r0`, `s12`: a letter and a number below `limit`, without leading zeros.
bool Assembler::number(StringRef word, char letter, unsigned limit,
                       unsigned &value) {
  return word.size() > 1 && word[0] == letter &&
         !word.drop_front().getAsInteger(10, value) && value < limit &&
         Twine(value).str() == word.drop_front();
}

bool Assembler::unknown(StringRef word, const Twine &what,
                        llvm::ArrayRef<StringRef> allowed) {
  unsigned best = std::max<unsigned>(2, word.size() / 3) + 1;
  StringRef nearest;
  for (StringRef candidate : allowed)
    if (unsigned distance = word.edit_distance(candidate, true, best);
        distance < best) {
      best = distance;
      nearest = candidate;
    }
  std::string message = ("no " + what + " is called '" + word + "'").str();
  if (!nearest.empty())
    message += ("; did you mean '" + nearest + "'?").str();
  else if (allowed.size() <= 16 && !allowed.empty())
    message += "; there are " + llvm::join(allowed, ", ");
  return failName(message);
}

bool Assembler::finishLine() {
  if (lexer.atLineEnd())
    return true;
  return fail("want the end of the line here, found " + lexer.found());
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

bool Assembler::machineBlock(StringRef machineName) {
  if (lexer.atLineEnd()) {
    std::optional<Machine> machine = loadMachine(machineName, diags);
    if (!machine)
      return fail(Twine("machine '") + machineName + "' cannot be used");
    program.machine = std::move(*machine);
    return true;
  }
  if (!expect("{") || !finishLine())
    return false;
  std::string text = ("name " + machineName + "\nkind engine\n").str();
  Place start = lexer.place();
  for (;;) {
    lexer.nextLine();
    if (lexer.atEnd())
      return fail("the machine's '{' is not closed");
    if (lexer.atLineEnd())
      continue;
    if (lexer.take("}"))
      break;
    text += lexer.restOfLine().str() + "\n";
  }
  std::string error;
  std::optional<Machine> machine = parseCanonicalMachine(text, error);
  if (!machine) {
    diags.error(start, error);
    return false;
  }
  program.machine = std::move(*machine);
  return true;
}

bool Assembler::bufferDirective() {
  Buffer b;
  std::string word;
  static const StringRef kinds[] = {"in",    "out",  "inout",
                                    "const", "data", "scratch"};
  if (!name(b.name, "the buffer's name") ||
      !name(word, "in, out, inout, const, data or scratch"))
    return false;
  const auto *kind = llvm::find(kinds, word);
  if (kind == std::end(kinds))
    return unknown(word, "kind of buffer", kinds);
  b.kind = BufferKind(kind - kinds);
  if (!name(word, "space and type, as hbm.bf16"))
    return false;
  auto [space, type] = StringRef(word).split('.');
  bool found = false;
  for (Space s : {Space::Sbuf, Space::Psum, Space::Hbm})
    if (space == spaceName(s)) {
      b.space = s;
      found = true;
    }
  if (!found)
    return unknown(space, "memory", {"sbuf", "psum", "hbm"});
  found = false;
  std::vector<StringRef> types;
  for (unsigned t = 0; t != numDTypes; ++t) {
    types.push_back(dtypeName(DType(t)));
    if (type == types.back()) {
      b.dtype = DType(t);
      found = true;
    }
  }
  if (!found)
    return unknown(type, "element type", types);
  if (!list(b.shape))
    return false;
  b.strides = text::denseStrides(b.shape);
  if (lexer.takeWord("strides")) {
    b.strides.clear();
    if (!list(b.strides))
      return false;
  }
  int64_t value = 0;
  if (!lexer.takeWord("at"))
    return fail("want 'at ADDRESS' here, found " + lexer.found());
  if (!integer(value, 0, INT64_MAX, "the address"))
    return false;
  b.address = uint64_t(value);
  if (!lexer.takeWord("bytes"))
    return fail("want 'bytes NUMBER' here, found " + lexer.found());
  if (!integer(value, 0, INT64_MAX, "the number of bytes"))
    return false;
  b.bytes = uint64_t(value);
  if (lexer.takeWord("partitions")) {
    int64_t first, last;
    if (!integer(first, 0, 65535, "the first partition") || !expect(":") ||
        !integer(last, first, 65535, "one past the last partition"))
      return false;
    b.partition = uint16_t(first);
    b.partitions = uint16_t(last - first);
  }
  if (lexer.takeWord("live")) {
    int64_t first, last;
    if (!integer(first, 0, UINT32_MAX, "the beginning") || !expect(":") ||
        !integer(last, 0, UINT32_MAX, "the end"))
      return false;
    b.liveBegin = uint32_t(first);
    b.liveEnd = uint32_t(last);
  }
  bufferNames.try_emplace(b.name, program.buffers.size());
  program.buffers.push_back(std::move(b));
  return finishLine();
}

/// `.bytes "00ff"` and `.zeros 64` add to the buffer declared last.
bool Assembler::dataDirective(bool zeros) {
  if (program.buffers.empty() ||
      program.buffers.back().kind != BufferKind::Data)
    return fail("data comes after a buffer of kind data");
  Buffer &b = program.buffers.back();
  uint64_t room = b.bytes - std::min<uint64_t>(b.bytes, b.data.size());
  // What is refused anyway is not worth its memory.
  uint64_t held = 0;
  for (const Buffer &other : program.buffers)
    held += other.data.size();
  std::string bytes;
  if (zeros) {
    int64_t count;
    if (!integer(count, 0, INT64_MAX, "the number of zeros"))
      return false;
    if (uint64_t(count) > room)
      return fail("buffer '" + b.name + "' has " + Twine(b.bytes) +
                  " bytes, this goes beyond them");
    if (uint64_t(count) > maxDataBytes - std::min(held, maxDataBytes))
      return fail("data buffers hold more than " + Twine(maxDataBytes) +
                  " bytes");
    b.data.resize(b.data.size() + size_t(count));
    return finishLine();
  }
  std::string hex;
  if (!string(hex, "hex digits"))
    return false;
  if (hex.size() % 2 || !llvm::tryGetFromHex(hex, bytes))
    return fail("want an even number of hex digits");
  if (bytes.size() > room)
    return fail("buffer '" + b.name + "' has " + Twine(b.bytes) +
                " bytes, this goes beyond them");
  b.data.insert(b.data.end(), bytes.begin(), bytes.end());
  return finishLine();
}

bool Assembler::semaphoreDirective() {
  SemaphoreInfo s;
  if (!name(s.name, "the semaphore's name"))
    return false;
  unsigned index = 0;
  if (number(s.name, 's', 1u << 16, index)) {
    if (index != program.semaphores.size())
      return failName("a semaphore without a name is called s" +
                      Twine(program.semaphores.size()) + " here");
    s.name.clear();
  }
  int64_t value;
  if (lexer.takeWord("initial")) {
    if (!expect("=") || !integer(value, 0, INT32_MAX, "the initial value"))
      return false;
    s.initial = int32_t(value);
  }
  if (lexer.takeWord("final")) {
    if (!expect("=") || !integer(value, 0, INT32_MAX, "the final value"))
      return false;
    s.final = int32_t(value);
  }
  if (!s.name.empty() &&
      !semaphoreNames.try_emplace(s.name, program.semaphores.size()).second)
    return failName("semaphore '" + s.name + "' is declared twice");
  program.semaphores.push_back(std::move(s));
  return finishLine();
}

bool Assembler::queueDirective() {
  std::string word;
  if (!name(word, "an engine"))
    return false;
  std::vector<StringRef> engines;
  for (unsigned e = 0; e != numEngines; ++e) {
    engines.push_back(engineName(Engine(e)));
    if (word != engines.back())
      continue;
    if (opened[e])
      return failName("queue " + word + " is opened twice");
    if (!openLoops.empty())
      return failName("the queue before has a loop without end");
    opened[e] = true;
    engine = Engine(e);
    program.queue(engine);
    inQueue = true;
    return finishLine();
  }
  return unknown(word, "engine", engines);
}

bool Assembler::ringDirective() {
  if (!inQueue)
    return fail("a ring belongs to a queue; open one with .queue first");
  std::string word;
  RingInfo ring;
  unsigned index = 0;
  if (!name(word, "r0 to r15"))
    return false;
  Place start = lexer.placeOfName();
  if (!number(word, 'r', numRings, index))
    return failName("want r0 to r15, found '" + word + "'");
  int64_t depth;
  if (!lexer.takeWord("depth"))
    return fail("want 'depth=NUMBER' here, found " + lexer.found());
  if (!expect("=") || !integer(depth, 1, 65535, "the depth"))
    return false;
  if (lexer.takeWord("name")) {
    if (!expect("=") || !name(ring.name, "the ring's name"))
      return false;
  }
  ring.queue = queueIndex();
  ring.ring = index;
  ring.depth = uint32_t(depth);
  auto key = [](const RingInfo &r) { return std::pair(r.queue, r.ring); };
  auto at = llvm::find_if(
      program.rings, [&](const RingInfo &r) { return key(r) >= key(ring); });
  if (at != program.rings.end() && key(*at) == key(ring)) {
    diags.error(start, "ring " + word + " is declared twice");
    return false;
  }
  program.rings.insert(at, std::move(ring));
  return finishLine();
}

bool Assembler::directive() {
  std::string word;
  lexer.takeName(word);
  if (word == ".program") {
    int64_t version;
    return integer(version, 1, 1, "the version of the text form") &&
           finishLine();
  }
  if (word == ".machine") {
    std::string machineName;
    if (haveMachine)
      return fail("a second machine");
    haveMachine = true;
    return string(machineName, "the machine's name") &&
           machineBlock(machineName) && finishLine();
  }
  if (word == ".note") {
    std::pair<std::string, std::string> note;
    if (!string(note.first, "a key") || !string(note.second, "a value"))
      return false;
    program.notes.push_back(std::move(note));
    return finishLine();
  }
  if (word == ".buffer")
    return bufferDirective();
  if (word == ".bytes" || word == ".zeros")
    return dataDirective(word == ".zeros");
  if (word == ".semaphore")
    return semaphoreDirective();
  if (word == ".queue")
    return queueDirective();
  if (word == ".ring")
    return ringDirective();
  return unknown(word, "directive",
                 {".program", ".machine", ".note", ".buffer", ".bytes",
                  ".zeros", ".semaphore", ".queue", ".ring"});
}

//===----------------------------------------------------------------------===//
// Accesses, sums, predicates
//===----------------------------------------------------------------------===//

/// NUMBER, NUMBER*i0, i0, NUMBER*r0, r0
bool Assembler::term(Sum &result, int64_t sign) {
  uint64_t size = 1;
  bool haveNumber = lexer.takeInteger(size);
  if (size > uint64_t(1) << 62)
    return fail("a number beyond 2^62");
  int64_t value = sign * int64_t(size);
  auto add = [&](int64_t &into) {
    if (__builtin_add_overflow(into, value, &into))
      return fail("the sum leaves 64 bits");
    return true;
  };
  if (haveNumber && !lexer.take("*"))
    return add(result.form.base);
  std::string word;
  unsigned index;
  if (!name(word, "a number, i0 to i7 or r0 to r15"))
    return false;
  if (number(word, 'i', maxLoops, index))
    return add(result.form.coefficients[index]);
  if (number(word, 'r', numRings, index)) {
    if (result.form.ring >= 0 && result.form.ring != int(index))
      return failName("an address uses one ring");
    result.form.ring = int(index);
    return add(result.form.slotStride);
  }
  return failName("want a number, i0 to i7 or r0 to r15, found '" + word + "'");
}

bool Assembler::sum(Sum &result) {
  int64_t sign = lexer.take("-") ? -1 : 1;
  if (!term(result, sign))
    return false;
  for (;;) {
    if (lexer.take("+"))
      sign = 1;
    else if (lexer.take("-"))
      sign = -1;
    else
      return true;
    if (!term(result, sign))
      return false;
  }
}

/// `, COUNT` or `, COUNT@STEP`, outermost first.
bool Assembler::dimensions(Access &a) {
  bool given[maxDims] = {};
  while (lexer.take(",")) {
    if (a.rank == maxDims)
      return fail("more than " + Twine(maxDims) + " dimensions");
    int64_t count, step = 0;
    if (!integer(count, 1, UINT32_MAX, "a number of elements"))
      return false;
    if (lexer.take("@")) {
      if (!integer(step, INT64_MIN / 4, INT64_MAX / 4, "a step"))
        return false;
      given[a.rank] = true;
    }
    a.count[a.rank] = uint32_t(count);
    a.step[a.rank] = step;
    ++a.rank;
  }
  __int128 dense = 1;
  for (unsigned d = a.rank; d-- > 0;) {
    dense *= a.count[d];
    if (dense > (__int128(1) << 40))
      return fail("more than 2^40 elements in a row");
  }
  for (unsigned d = 0; d != a.rank; ++d)
    if (!given[d])
      a.step[d] = text::denseStep(a, d);
  return true;
}

bool Assembler::access(Access &a) {
  std::string word;
  if (!name(word, "an operand, as sbuf.bf16[0:128, 0, 512]"))
    return false;
  auto [space, type] = StringRef(word).split('.');
  std::vector<StringRef> spaces, types;
  bool found = false;
  for (Space s : {Space::Sbuf, Space::Psum, Space::Hbm, Space::Index}) {
    spaces.push_back(spaceName(s));
    if (space == spaces.back()) {
      a.space = s;
      found = true;
    }
  }
  if (!found)
    return unknown(space, "memory", spaces);
  found = false;
  for (unsigned t = 0; t != numDTypes; ++t) {
    types.push_back(dtypeName(DType(t)));
    if (type == types.back()) {
      a.dtype = DType(t);
      found = true;
    }
  }
  if (!found)
    return unknown(type, "element type", types);
  if (!expect("["))
    return false;
  int64_t first, last;
  bool rowStepGiven = false;
  if (a.space == Space::Sbuf || a.space == Space::Psum) {
    if (!integer(first, 0, 65535, "the first partition") || !expect(":") ||
        !integer(last, first + 1, 65536, "one past the last partition"))
      return false;
    a.partition = uint16_t(first);
    a.partitions = uint32_t(last - first);
  } else {
    if (a.space == Space::Hbm) {
      std::string buffer;
      if (!name(buffer, "a buffer"))
        return false;
      auto at = bufferNames.find(buffer);
      if (at == bufferNames.end()) {
        std::vector<StringRef> names;
        for (const Buffer &b : program.buffers)
          names.push_back(b.name);
        return unknown(buffer, "buffer", names);
      }
      a.buffer = at->second;
      if (!expect(","))
        return false;
    }
    if (!integer(first, 1, UINT32_MAX, "a number of rows"))
      return false;
    a.partitions = uint32_t(first);
    if (lexer.take("@")) {
      if (!integer(a.rowStep, INT64_MIN / 4, INT64_MAX / 4, "a row step"))
        return false;
      rowStepGiven = true;
    }
  }
  Sum address;
  if (!expect(",") || !sum(address) || !dimensions(a) || !expect("]"))
    return false;
  if (!rowStepGiven)
    a.rowStep = text::denseRowStep(a);
  a.offset = address.form.base;
  address.form.base = 0;
  if (!address.isConstant())
    a.affine = builder.affine(address.form);
  return true;
}

/// if(SUM == 0, SUM >= 0, ...)
bool Assembler::predicate(uint16_t &result) {
  if (result)
    return fail("a second if; list the conditions in one");
  if (!expect("("))
    return false;
  Predicate p;
  do {
    Sum left;
    if (!sum(left))
      return false;
    unsigned c = 0;
    for (; c != 6; ++c)
      if (lexer.take(text::compares[c]))
        break;
    if (c == 6)
      return fail("want == != < <= > >= here, found " + lexer.found());
    int64_t zero;
    if (!integer(zero, 0, 0, "the right side of a condition"))
      return false;
    if (p.conditions == 4)
      return fail("more than 4 conditions");
    p.forms[p.conditions] = builder.affine(left.form) - 1;
    p.compares[p.conditions++] = Predicate::Compare(c);
  } while (lexer.take(","));
  if (!expect(")"))
    return false;
  result = builder.predicate(p);
  return true;
}

//===----------------------------------------------------------------------===//
// Synchronisation and places
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

bool Assembler::statement() {
  return lexer.peek() == '.' ? directive() : instruction();
}

std::optional<Program> Assembler::run() {
  unsigned before = diags.errorCount();
  if (!lexer.checkText())
    return std::nullopt;
  for (; !lexer.atEnd() && !diags.limitReached(); lexer.nextLine())
    if (!lexer.atLineEnd())
      (void)statement();
  if (diags.errorCount() == before && !openLoops.empty())
    diags.error(places[unsigned(engine)][openLoops.back()],
                "a loop without end");
  if (diags.errorCount() == before && !haveMachine)
    diags.error({file.str()}, "no machine; start with .machine \"trn2\", say");
  if (diags.errorCount() != before)
    return std::nullopt;
  auto placeOf = [&](unsigned queue, int pc) {
    const std::vector<Place> &of =
        places[unsigned(program.queues[queue].engine)];
    return pc >= 0 && size_t(pc) < of.size() ? of[size_t(pc)]
                                             : Place{file.str()};
  };
  if (!checkProgram(program, diags, file, placeOf))
    return std::nullopt;
  (void)writeProgram(program); // canonical tables and build id
  return builder.finish();
}

std::optional<Program> facet::assemble(StringRef text, StringRef file,
                                       Diagnostics &diags) {
  return Assembler(text, file, diags).run();
}
