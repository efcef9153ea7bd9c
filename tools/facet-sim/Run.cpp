//===- Run.cpp - facet-sim run: what a program computes -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   facet-sim run p.engine x=x.npy w=w.npy y=out.npy
//
// Reads a file for each buffer that the program is given, runs it, reports what
// it did wrong, and writes the outputs that were asked for. Outputs are written
// only when the run came to its end and nothing was found.
//
//===----------------------------------------------------------------------===//

#include "Npy.h"
#include "Verbs.h"

#include "facet/Isa/Check.h"
#include "facet/Isa/Container.h"
#include "facet/Sim/Race.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"

using namespace facet;
using llvm::StringRef;
using llvm::Twine;

namespace {
struct Arguments {
  StringRef program, machine;
  sim::RunOptions options;
  sim::ResultOptions results;
  bool timingOnly = false, remarks = false;
  uint64_t orders = 0;
  std::vector<std::pair<StringRef, StringRef>> files; // buffer, file
};
} // namespace

static int parse(const sim::Verb &verb, llvm::ArrayRef<StringRef> args,
                 Arguments &result) {
  for (size_t i = 0; i != args.size(); ++i) {
    StringRef arg = args[i];
    bool valued = arg == "--max-steps" || arg == "--orders" ||
                  arg == "--clock-phase" || arg == "--threads";
    if ((valued || arg == "--machine" || sim::isResultOption(arg)) &&
        i + 1 == args.size())
      return usageError(verb, arg + " wants a value");
    if (sim::isResultOption(arg)) {
      std::string wrong =
          sim::parseResultOption(arg, args[++i], result.results);
      if (!wrong.empty())
        return usageError(verb, wrong);
    } else if (arg == "--machine")
      result.machine = args[++i];
    else if (arg == "--stats")
      result.results.stats = true;
    else if (arg == "--no-check")
      result.options.checks = false;
    else if (arg == "--remarks")
      result.remarks = true;
    else if (arg == "--timing-only")
      result.timingOnly = true;
    else if (valued) {
      uint64_t value = 0;
      // 10^12: as ps it stays a number that can be added.
      if (args[++i].getAsInteger(10, value) ||
          (arg == "--clock-phase" && value > 1'000'000'000'000))
        return usageError(verb, arg + " wants a number, got '" + args[i] + "'");
      if (arg == "--threads" && (value < 1 || value > 256))
        return usageError(verb,
                          "--threads wants 1 to 256, got '" + args[i] + "'");
      if (arg == "--threads")
        result.options.threads = unsigned(value);
      else if (arg == "--orders")
        result.orders = value;
      else if (arg == "--clock-phase")
        result.results.time.clockPhasePs = int64_t(value) * 1000;
      else
        result.options.maxSteps = result.results.time.maxSteps = value;
    } else if (arg.starts_with("-") && arg != "-")
      return usageError(verb, "unknown option '" + arg + "'");
    else if (arg.contains('='))
      result.files.push_back(arg.split('='));
    else if (result.program.empty())
      result.program = arg;
    else
      return usageError(verb, "'" + arg +
                                  "' is neither BUFFER=FILE nor the "
                                  "only program");
  }
  if (result.program.empty())
    return usageError(verb, "want a program");
  std::string wrong = sim::checkResultOptions(result.results);
  return wrong.empty() ? 0 : usageError(verb, wrong);
}

/// Which file goes with which buffer; in and out.
namespace {
struct Files {
  std::vector<StringRef> in, out; // parallel to Program::buffers
};
} // namespace

/// A program may claim all of the machine's memory; this host has less.
constexpr uint64_t maxHbmBytes = uint64_t(1) << 33;

static bool matchFiles(const Arguments &args, const Program &program,
                       Files &files, Diagnostics &diags) {
  uint64_t bytes = 0;
  for (const Buffer &buffer : program.buffers)
    bytes += buffer.space == Space::Hbm ? buffer.bytes : 0;
  if (bytes > maxHbmBytes)
    diags.error({args.program.str()},
                "its buffers in hbm have " + Twine(bytes) +
                    " bytes, facet-sim runs up to " + Twine(maxHbmBytes));
  files.in.resize(program.buffers.size());
  files.out.resize(program.buffers.size());
  for (auto [name, file] : args.files) {
    size_t b = 0;
    while (b != program.buffers.size() &&
           !(program.buffers[b].space == Space::Hbm &&
             program.buffers[b].name == name))
      ++b;
    if (b == program.buffers.size()) {
      diags.error({args.program.str()}, "has no buffer '" + name + "' in hbm");
      continue;
    }
    BufferKind kind = program.buffers[b].kind;
    StringRef in, out;
    switch (kind) {
    case BufferKind::In:
    case BufferKind::Const:
      in = file;
      break;
    case BufferKind::Out:
      out = file;
      break;
    case BufferKind::InOut:
      std::tie(in, out) = file.split(':');
      break;
    case BufferKind::Data:
    case BufferKind::Scratch:
      diags.error({args.program.str()}, "buffer '" + name + "' is " +
                                            bufferKindName(kind) +
                                            ", which takes no file");
      continue;
    }
    if (!files.in[b].empty() || !files.out[b].empty())
      diags.error({args.program.str()}, "buffer '" + name + "' is given twice");
    files.in[b] = in;
    files.out[b] = out;
  }
  for (size_t b = 0; b != program.buffers.size(); ++b) {
    const Buffer &buffer = program.buffers[b];
    bool given = buffer.kind == BufferKind::In ||
                 buffer.kind == BufferKind::InOut ||
                 buffer.kind == BufferKind::Const;
    if (given && files.in[b].empty())
      diags.error({args.program.str()}, "buffer '" + buffer.name + "' is " +
                                            bufferKindName(buffer.kind) +
                                            " and not given; want " +
                                            buffer.name + "=FILE.npy");
  }
  return !diags.hasErrors();
}

static bool readInputs(const Program &program, const Files &files,
                       std::vector<std::vector<uint8_t>> &memory,
                       Diagnostics &diags) {
  for (size_t b = 0; b != program.buffers.size(); ++b) {
    if (files.in[b].empty())
      continue;
    std::optional<std::string> contents = sim::readFile(files.in[b], diags);
    if (!contents)
      continue;
    auto bytes = sim::readBuffer(*contents, program.buffers[b]);
    if (bytes)
      memory[b] = std::move(*bytes);
    else
      diags.error({files.in[b].str()}, llvm::toString(bytes.takeError()));
  }
  return !diags.hasErrors();
}

/// Over no input, except that what is given and written may go where it was.
static void writeOutput(const Arguments &arguments, const Program &program,
                        const Files &files,
                        llvm::ArrayRef<std::vector<uint8_t>> memory, size_t b,
                        Diagnostics &diags) {
  llvm::SmallVector<StringRef> inputs = {arguments.program};
  for (size_t other = 0; other != files.in.size(); ++other)
    if (other != b && !files.in[other].empty())
      inputs.push_back(files.in[other]);
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  sim::writeBuffer(os, memory[b], program.buffers[b]);
  (void)sim::writeFile(files.out[b], std::move(bytes), diags, inputs);
}

/// What was asked for, else one line: the time.
static void writeAll(const Arguments &arguments, const Program &program,
                     const sim::RunResult &result, const sim::TimeResult *time,
                     Diagnostics &diags) {
  sim::writeResults(program, arguments.program, arguments.results, result, time,
                    diags);
  if (time && time->ok() && !sim::takesStandardOutput(arguments.results))
    llvm::outs() << llvm::formatv("{0:f1} ns, {1} cycles\n", time->ns(),
                                  time->cycles);
}

/// Without data: no files, no outputs.
static int timeOnly(const Arguments &arguments, const Program &program,
                    Diagnostics &diags) {
  for (auto [name, file] : arguments.files)
    diags.error({arguments.program.str()},
                "buffer '" + name + "' is given, with --timing-only none is");
  if (diags.hasErrors())
    return sim::report(diags);
  sim::TimeResult time = timeForResults(program, arguments.results);
  sim::RunResult result = sim::countsOf(program, time);
  reportFindings(program, result, arguments.program, diags);
  writeAll(arguments, program, result, &time, diags);
  return sim::report(diags);
}

/// The program as if it were for another machine, or for its own with other
/// numbers: it must keep that one's rules too.
static bool changeMachine(Program &program, const Arguments &arguments,
                          Diagnostics &diags) {
  std::optional<Machine> machine = loadMachine(arguments.machine, diags);
  if (!machine)
    return false;
  program.machine = std::move(*machine);
  return checkProgram(program, diags, arguments.program);
}

int sim::runRun(const Verb &verb, llvm::ArrayRef<StringRef> args) {
  Arguments arguments;
  if (int code = parse(verb, args, arguments))
    return code;
  Diagnostics diags;
  std::optional<Program> program = readProgramOrText(arguments.program, diags);
  if (!program)
    return report(diags);
  if (!arguments.machine.empty() && !changeMachine(*program, arguments, diags))
    return report(diags);
  (void)writeProgram(*program); // text has no build id before
  if (arguments.remarks)
    reportRedundantWaits(*program, redundantWaits(*program), arguments.program,
                         diags);
  if (arguments.timingOnly)
    return timeOnly(arguments, *program, diags);
  Files files;
  std::vector<std::vector<uint8_t>> memory(program->buffers.size());
  if (!matchFiles(arguments, *program, files, diags) ||
      !readInputs(*program, files, memory, diags))
    return report(diags);
  std::vector<std::vector<uint8_t>> given;
  if (arguments.orders)
    given = memory;
  RunResult result = runProgram(*program, memory, arguments.options);
  if (result.ok() && arguments.orders)
    if (RunResult other = tryOrders(*program, given, memory, arguments.orders,
                                    arguments.options);
        !other.ok())
      result = std::move(other);
  reportFindings(*program, result, arguments.program, diags);
  if (result.ok())
    for (size_t b = 0; b != program->buffers.size(); ++b)
      if (!files.out[b].empty())
        writeOutput(arguments, *program, files, memory, b, diags);
  std::optional<TimeResult> time;
  if (result.ok())
    time = timeForResults(*program, arguments.results);
  writeAll(arguments, *program, result, time ? &*time : nullptr, diags);
  return report(diags);
}
