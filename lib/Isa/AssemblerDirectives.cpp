//===- AssemblerDirectives.cpp - what a program declares ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "AssemblerImpl.h"
#include "Text.h"

#include "llvm/ADT/StringExtras.h"

using namespace facet;
using llvm::StringRef;
using llvm::Twine;

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
