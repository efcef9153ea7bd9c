//===- Findings.cpp - what a run found, for people and programs -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   p.engine: error: SIM-UNINIT: queue vector, instruction 3 (copy): src reads
//   byte 0 of partition 0 of psum, which nothing wrote, with i0 = 2, 6 times
//   note: copy dst=sbuf.f32[0:128, 0, 512], src=psum.f32[0:128, 0, 512]
//   k.facet:3:9: note: from 'matmul y'
//
//===----------------------------------------------------------------------===//

#include "facet/Isa/Assembler.h"
#include "facet/Sim/Origin.h"
#include "facet/Sim/Race.h"

#include "llvm/ADT/STLExtras.h"

using namespace facet;
using namespace facet::sim;
using llvm::Twine;

bool sim::RunResult::isUsable() const {
  return completed && llvm::all_of(findings, [](const Finding &finding) {
           return llvm::StringRef(finding.code) == "SIM-RACE-SIZE";
         });
}

/// "queue vector, instruction 3 (copy)"
static std::string instructionName(const Program &program, int queue, int pc) {
  const Queue &q = program.queues[size_t(queue)];
  const OpcodeInfo *info = opcodeInfo(q.code[size_t(pc)].opcode);
  return (Twine("queue ") + engineName(q.engine) + ", instruction " +
          Twine(pc) + " (" + info->mnemonic + ")")
      .str();
}

/// What begins a message about an instruction, or about none.
static std::string prefixFor(const Program &program, int queue, int pc) {
  return queue < 0 ? "" : instructionName(program, queue, pc) + ": ";
}

/// Where an instruction comes from; null: that is not known.
static const Location *locationOf(const Program &program, int queue, int pc) {
  uint32_t index = program.queues[size_t(queue)].locations[size_t(pc)];
  return index ? &program.locations[index - 1] : nullptr;
}

/// Notes with the instruction as text and where it comes from.
static void addOrigin(const Program &program, int queue, int pc,
                      Diagnostic &diagnostic) {
  if (queue < 0)
    return;
  diagnostic.note({}, printInstruction(program, unsigned(queue), unsigned(pc)));
  if (const Location *at = locationOf(program, queue, pc))
    diagnostic.note({at->file, at->line, at->column},
                    at->op.empty() ? "from here" : "from '" + at->op + "'");
}

std::vector<std::string> sim::describeOrigin(const Program &program,
                                             const OriginStep &step) {
  std::string text = instructionName(program, step.queue, step.pc);
  if (step.times > 1)
    text += ", " + std::to_string(step.times) + " times";
  if (!step.when.empty())
    text += (step.times > 1 ? ", the last with " : ", with ") + step.when;
  std::vector<std::string> lines{
      text, printInstruction(program, unsigned(step.queue), unsigned(step.pc))};
  if (const Location *at = locationOf(program, step.queue, step.pc)) {
    std::string place = at->file + ":" + std::to_string(at->line) + ":" +
                        std::to_string(at->column);
    lines.push_back(at->op.empty() ? place : place + ", '" + at->op + "'");
  }
  return lines;
}

static std::string textOf(const Program &program, const Finding &finding) {
  std::string text = finding.code;
  text +=
      ": " + prefixFor(program, finding.queue, finding.pc) + finding.message;
  if (!finding.when.empty())
    text +=
        (finding.when[0] == 'i' && finding.when[1] == 'n' ? ", " : ", with ") +
        finding.when;
  if (finding.times > 1)
    text += ", " + std::to_string(finding.times) + " times";
  return text;
}

void sim::reportFindings(const Program &program, const RunResult &result,
                         llvm::StringRef file, Diagnostics &diags) {
  for (const Finding &finding : result.findings) {
    Diagnostic &error = diags.error({file.str()}, textOf(program, finding));
    addOrigin(program, finding.queue, finding.pc, error);
    for (const Finding::Note &note : finding.notes) {
      error.note({}, prefixFor(program, note.queue, note.pc) + note.message);
      addOrigin(program, note.queue, note.pc, error);
    }
  }
}

void sim::reportRedundantWaits(const Program &program,
                               const std::vector<Finding> &findings,
                               llvm::StringRef file, Diagnostics &diags) {
  for (const Finding &finding : findings)
    addOrigin(
        program, finding.queue, finding.pc,
        diags.remark("redundant-wait", {file.str()}, textOf(program, finding)));
}

llvm::json::Object sim::runToJson(const Program &program,
                                  const RunResult &result) {
  namespace json = llvm::json;
  json::Array queues, findings;
  for (size_t q = 0; q != program.queues.size(); ++q)
    queues.push_back(
        json::Object{{"engine", engineName(program.queues[q].engine)},
                     {"executed", result.queues[q].executed},
                     {"skipped", result.queues[q].skipped}});
  auto place = [&](json::Object &object, int queue, int pc) {
    if (queue < 0)
      return;
    object["queue"] = engineName(program.queues[size_t(queue)].engine);
    object["instruction"] = pc;
  };
  for (const Finding &finding : result.findings) {
    json::Array notes;
    for (const Finding::Note &note : finding.notes) {
      json::Object object{{"message", note.message}};
      place(object, note.queue, note.pc);
      notes.push_back(std::move(object));
    }
    json::Object object{{"code", finding.code},
                        {"message", finding.message},
                        {"when", finding.when},
                        {"times", finding.times},
                        {"notes", std::move(notes)}};
    place(object, finding.queue, finding.pc);
    findings.push_back(std::move(object));
  }
  return json::Object{
      {"schema", "facet-sim-run-2"},
      {"machine", program.machine.name},
      {"machine_hash", hexHash(machineHash(program.machine))},
      {"build_id", hexHash(program.buildId)},
      {"completed", result.completed},
      {"queues", std::move(queues)},
      {"multiply_adds", result.multiplyAdds},
      {"bytes", json::Object{{"hbm_read", result.hbmBytesRead},
                             {"hbm_written", result.hbmBytesWritten}}},
      {"findings", std::move(findings)}};
}
