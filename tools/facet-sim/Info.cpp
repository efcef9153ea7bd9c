//===- Info.cpp - facet-sim info: what a program is -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints machine, build id, sections, buffers and the length of each queue, for a
// person or as JSON:
//
//   program   build 4f3a...
//   machine   trn2 (805ae06a...)
//   queues    tensor 12 instructions, 4096 issued; sync 5, 96 issued
//
// "issued" counts loops by their trips and predicates as true.
//
//===----------------------------------------------------------------------===//

#include "Verbs.h"

#include "facet/Isa/Container.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace facet;
namespace json = llvm::json;

/// Instructions a queue issues, its loops multiplied out; saturates.
static uint64_t issued(const Queue &queue) {
  std::vector<uint64_t> times{1};
  uint64_t total = 0;
  for (const Instruction &i : queue.code) {
    uint64_t now = times.back();
    total = llvm::SaturatingAdd(total, now);
    if (i.op() == Opcode::Loop)
      times.push_back(llvm::SaturatingMultiply<uint64_t>(now, i.imm[0]));
    else if (i.op() == Opcode::End && times.size() > 1)
      times.pop_back();
  }
  return total;
}

static json::Value toJson(const Program &program,
                          const std::vector<SectionInfo> &sections) {
  json::Array sectionList, buffers, semaphores, queues;
  json::Object notes;
  for (const SectionInfo &s : sections)
    sectionList.push_back(json::Object{{"name", s.name},
                                       {"required", s.required},
                                       {"offset", int64_t(s.offset)},
                                       {"bytes", int64_t(s.size)},
                                       {"entries", s.count}});
  for (const Buffer &b : program.buffers)
    buffers.push_back(json::Object{{"name", b.name},
                                   {"kind", bufferKindName(b.kind)},
                                   {"space", spaceName(b.space)},
                                   {"dtype", dtypeName(b.dtype)},
                                   {"shape", json::Array(b.shape)},
                                   {"strides", json::Array(b.strides)},
                                   {"address", int64_t(b.address)},
                                   {"bytes", int64_t(b.bytes)}});
  for (const SemaphoreInfo &s : program.semaphores)
    semaphores.push_back(json::Object{
        {"name", s.name}, {"initial", s.initial}, {"final", s.final}});
  for (const Queue &q : program.queues)
    queues.push_back(json::Object{{"engine", engineName(q.engine)},
                                  {"instructions", int64_t(q.code.size())},
                                  {"issued", issued(q)}});
  for (const auto &[key, value] : program.notes)
    notes[key] = value;
  return json::Object{{"schema", "facet-program-info-1"},
                      {"build_id", hexHash(program.buildId)},
                      {"machine", program.machine.name},
                      {"machine_hash", hexHash(machineHash(program.machine))},
                      {"notes", std::move(notes)},
                      {"sections", std::move(sectionList)},
                      {"buffers", std::move(buffers)},
                      {"semaphores", std::move(semaphores)},
                      {"queues", std::move(queues)}};
}

static void printText(llvm::raw_ostream &os, const Program &program,
                      const std::vector<SectionInfo> &sections) {
  os << "build    " << hexHash(program.buildId) << '\n';
  os << "machine  " << program.machine.name << " ("
     << hexHash(machineHash(program.machine)) << ")\n";
  for (const auto &[key, value] : program.notes)
    os << "note     " << key << ": " << value << '\n';
  os << "\nqueue      instructions        issued\n";
  for (const Queue &q : program.queues)
    os << llvm::left_justify(engineName(q.engine), 10)
       << llvm::format("%13zu %13llu\n", q.code.size(),
                       (unsigned long long)issued(q));
  os << "\nbuffer\n";
  for (const Buffer &b : program.buffers) {
    os << "  " << b.name << ": " << bufferKindName(b.kind) << ' '
       << spaceName(b.space) << '.' << dtypeName(b.dtype) << '[';
    llvm::interleaveComma(b.shape, os);
    os << "], " << b.bytes << " bytes\n";
  }
  os << "\nsection        offset     bytes   entries\n";
  for (const SectionInfo &s : sections)
    os << llvm::left_justify(s.name, 12)
       << llvm::format("%9llu %9llu %9u\n", (unsigned long long)s.offset,
                       (unsigned long long)s.size, s.count);
}

int sim::runInfo(const Verb &verb, llvm::ArrayRef<llvm::StringRef> args) {
  FileArguments files;
  bool asJson = false;
  auto option = [&](llvm::StringRef arg) { return asJson |= arg == "--json"; };
  if (int code = parseFiles(verb, args, 1, files, option))
    return code;
  Diagnostics diags;
  std::optional<Program> program = readProgramOrText(files.files[0], diags);
  if (!program)
    return report(diags);
  std::vector<SectionInfo> sections = listSections(writeProgram(*program));
  std::string text;
  llvm::raw_string_ostream os(text);
  if (asJson)
    os << llvm::formatv("{0:2}\n", toJson(*program, sections));
  else
    printText(os, *program, sections);
  (void)writeFile(files.output, text, diags, files.files);
  return report(diags);
}
