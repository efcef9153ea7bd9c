//===- Main.cpp - facet-sim-rows ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The programs of this folder, to a file or to the clock:
//
//   facet-sim-rows rows --table closed-form            csv: measured and simulated
//   facet-sim-rows gemm --order MNK --tiles 4,4,2 -m 4096 -n 4096 -k 4096 -o p.engine
//
//===----------------------------------------------------------------------===//

#include "BlockedGemm.h"
#include "Rows.h"

#include "facet/Isa/Check.h"
#include "facet/Isa/Container.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace facet;
using namespace facet::bench;
namespace cl = llvm::cl;

static cl::SubCommand gemm("gemm", "writes a blocked matmul as a program");
static cl::opt<std::string> machineName("machine", cl::init("trn2"),
                                        cl::desc("name or file"),
                                        cl::sub(gemm));
static cl::opt<std::string> output("o", cl::Required, cl::desc("the program"),
                                   cl::sub(gemm));
static cl::opt<int64_t> sizeM("m", cl::init(512), cl::sub(gemm));
static cl::opt<int64_t> sizeN("n", cl::init(512), cl::sub(gemm));
static cl::opt<int64_t> sizeK("k", cl::init(512), cl::sub(gemm));
static cl::opt<std::string> order("order", cl::init("MNK"),
                                  cl::desc("block loops, outermost first"),
                                  cl::sub(gemm));
static cl::list<int64_t> tiles("tiles", cl::CommaSeparated,
                               cl::desc("tiles of a block: K,M,N"),
                               cl::sub(gemm));
static cl::opt<std::string> type("type", cl::init("bf16"), cl::sub(gemm));
static cl::opt<std::string> result("result", cl::init(""), cl::sub(gemm));
static cl::opt<bool> lhsByTile("lhs-by-tile", cl::sub(gemm));

static cl::SubCommand
    replayCommand("replay",
                  "prints a recorded run, instruction by instruction");
static cl::opt<std::string> profileName(cl::Positional, cl::Required,
                                        cl::desc("fused_bf16_s512"),
                                        cl::sub(replayCommand));

static cl::SubCommand rowsCommand("rows",
                                  "prints measured and simulated times");
static cl::list<std::string> tables("table", cl::desc("only these tables"),
                                    cl::sub(rowsCommand));
static cl::opt<bool>
    check("check", cl::desc("only rows that miss their bar, and exit 1"),
          cl::sub(rowsCommand));
static cl::opt<double> loopBack("loop-back", cl::init(-1),
                                cl::desc("ns a loop's back-edge takes"),
                                cl::sub(rowsCommand));
static cl::opt<std::string> data("data",
                                 cl::init(FACET_SOURCE_DIR "/bench/sim/data"),
                                 cl::sub(rowsCommand), cl::sub(replayCommand));
static cl::opt<std::string>
    profiles("profiles", cl::init(FACET_SOURCE_DIR "/test/Sim/trn2"),
             cl::sub(rowsCommand), cl::sub(replayCommand));

static int fail(const llvm::Twine &message) {
  llvm::errs() << "facet-sim-rows: " << message << '\n';
  return 1;
}

static std::optional<DType> typeNamed(llvm::StringRef name) {
  for (DType t : {DType::F32, DType::BF16, DType::F16, DType::TF32})
    if (name == dtypeName(t))
      return t;
  return std::nullopt;
}

static int writeGemm() {
  Diagnostics diags;
  std::optional<Machine> machine = loadMachine(machineName, diags);
  if (!machine) {
    renderDiagnostics(diags, DiagnosticFormat::Text, false, llvm::errs());
    return 1;
  }
  GemmPlan plan;
  plan.m = sizeM, plan.n = sizeN, plan.k = sizeK;
  plan.order = order;
  plan.lhsByTile = lhsByTile;
  if (!tiles.empty() && tiles.size() != 3)
    return fail("--tiles takes three numbers: K,M,N");
  if (!tiles.empty())
    plan.tilesK = tiles[0], plan.tilesM = tiles[1], plan.tilesN = tiles[2];
  std::optional<DType> in = typeNamed(type),
                       out = result.empty() ? in : typeNamed(result);
  if (!in || !out)
    return fail("types are f32, tf32, bf16 and f16");
  plan.type = *in, plan.result = *out;
  llvm::Expected<Program> program = blockedGemm(*machine, plan);
  if (!program)
    return fail(llvm::toString(program.takeError()));
  if (!checkProgram(*program, diags, output)) {
    renderDiagnostics(diags, DiagnosticFormat::Text, false, llvm::errs());
    return 1;
  }
  std::error_code error;
  llvm::raw_fd_ostream file(output, error);
  if (!error) {
    std::vector<uint8_t> bytes = writeProgram(*program);
    file.write(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    file.close();
    error = file.error();
  }
  return error ? fail(output + ": " + error.message()) : 0;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static const std::pair<const char *, void (*)(const RowOptions &, Rows &)>
    allTables[] = {{"closed-form", closedForms},
                   {"gemm", gemms},
                   {"instr", instructions},
                   {"replay", replays},
                   {"attention", attention}};

static RowOptions rowOptions() {
  RowOptions options{data, profiles, std::nullopt};
  if (loopBack >= 0)
    options.loopBackPs = int64_t(loopBack * 1000);
  return options;
}

static int printRows() {
  RowOptions options = rowOptions();
  Rows rows;
  for (auto [name, fill] : allTables)
    if (tables.empty() || llvm::is_contained(tables, name))
      fill(options, rows);
  unsigned missed = 0;
  llvm::outs() << "table,case,measured,simulated,unit\n";
  for (const Row &row : rows) {
    missed += !row.inside();
    if (!check || !row.inside())
      llvm::outs() << row.table << ',' << row.name << ','
                   << llvm::format("%.10g", row.measured) << ','
                   << llvm::format("%.10g", row.simulated) << ',' << row.unit
                   << '\n';
  }
  llvm::outs().flush();
  llvm::errs() << rows.size() << " rows, " << missed << " outside their bar\n";
  return check && missed ? 1 : 0;
}

int main(int argc, char **argv) {
  setMachineExecutable(argv[0]);
  cl::ParseCommandLineOptions(argc, argv, "programs with known times\n");
  if (gemm)
    return writeGemm();
  if (rowsCommand)
    return printRows();
  if (replayCommand) {
    printReplay(rowOptions(), profileName, llvm::outs());
    return 0;
  }
  cl::PrintHelpMessage();
  return 2;
}
