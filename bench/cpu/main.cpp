//===- main.cpp - our kernels beside the best libraries -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   facet-bench-cpu --facet=bin/facet --runtime=lib --peers=build/peers --csv=out.csv
//                   [--class=tiny,odd] [--threads=1] [--seconds=0.3] [--most=20]
//
// One process, the same buffers for all. The peers of a case are measured in turns, a
// few milliseconds each, round after round: what disturbs the machine disturbs all of
// them. Several threads rest in between. The best of a peer's rounds says what it can
// do, the median what it did. On one thread the time is the CPU time of the thread. The
// peer that was best in a short first look runs once more under another name (`-again`):
// how far the two rows are apart is how far any two rows may be by chance.
//
// Each row is checked before it is measured; a row that is wrong says so in `ok`.
//
//===----------------------------------------------------------------------===//

#include "../../lib/Driver/Probe.h"
#include "Peer.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <set>
#include <thread>

using namespace bench;

//===----------------------------------------------------------------------===//
// Libraries
//===----------------------------------------------------------------------===//

Library::Library(const std::string &folder, const std::string &path) {
  const std::string full = folder.empty() ? path : folder + "/" + path;
  handle = dlopen(full.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    reason = dlerror();
}
void *Library::lookUp(const std::string &symbol) const {
  return handle ? dlsym(handle, symbol.c_str()) : nullptr;
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

namespace {

/// A row of the table under way.
struct Row {
  std::string peer;
  Runner run;
  bool isRight = false;
  int64_t calls = 1;           ///< per sample
  std::vector<double> samples; ///< seconds per call

  double best() const {
    return *std::min_element(samples.begin(), samples.end());
  }
  double median() const {
    std::vector<double> sorted = samples;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }
};

struct Command {
  Options options;
  std::set<std::string> groups;
  int threads = 1;
  double seconds = 0.3; ///< per row
  double most = 1e9;    ///< billions of operations of a case
  const char *csv = nullptr;
};

/// Threads of a library go on spinning for a while behind its last call, up to 25 ms
/// (OpenBLAS), on a core that the next one needs.
constexpr auto untilThreadsRest = std::chrono::milliseconds(40);

double sample(const Row &row, int threads) {
  if (threads > 1) {
    std::this_thread::sleep_for(untilThreadsRest);
    row.run(); // wakes its own
  }
  double begin = facet::stopwatch(unsigned(threads));
  for (int64_t i = 0; i < row.calls; ++i)
    row.run();
  return std::max(facet::stopwatch(unsigned(threads)) - begin, 1e-9) /
         double(row.calls);
}

/// Finds how many calls make about 3 milliseconds; the time of one.
double calibrate(Row &row, int threads) {
  double perCall = sample(row, threads);
  while (perCall * double(row.calls) < 2e-3 && row.calls < 1 << 22) {
    row.calls *= std::max<int64_t>(
        2,
        std::min<int64_t>(50, int64_t(3e-3 / (perCall * double(row.calls)))));
    perCall = sample(row, threads);
  }
  return perCall;
}

bool isPacked(const std::string &peer) {
  return peer.find("-packed") != std::string::npos;
}
bool isOurs(const std::string &peer) { return peer.rfind("facet", 0) == 0; }

/// The rows of a case, checked: peers that have nothing for it are left out.
std::vector<Row> prepareRows(const Peers &peers, const Case &given,
                             Buffers &data, int threads) {
  std::vector<Row> rows;
  for (const std::unique_ptr<Peer> &peer : peers) {
    Row row;
    row.run = peer->prepare(given, data, threads);
    if (!row.run)
      continue;
    row.peer = peer->name();
    data.poison();
    row.run();
    row.isRight = data.isRight();
    rows.push_back(std::move(row));
  }
  return rows;
}

void measure(std::vector<Row> &rows, const Command &command) {
  std::vector<double> first;
  for (Row &row : rows)
    first.push_back(calibrate(row, command.threads));
  // A/A: the best library once more.
  int best = -1;
  for (size_t i = 0; i < rows.size(); ++i)
    if (!isOurs(rows[i].peer) && (best < 0 || first[i] < first[size_t(best)]))
      best = int(i);
  if (best >= 0) {
    Row again = rows[size_t(best)];
    again.peer += "-again";
    rows.push_back(again);
    first.push_back(first[size_t(best)]);
  }
  double spent = 0, budget = command.seconds * double(rows.size());
  for (size_t round = 0; round < 5 || spent < budget; ++round) {
    if (round >= 3 && spent > 4 * budget) // calls so long that three must do
      break;
    for (size_t i = 0; i < rows.size(); ++i) {
      Row &row = rows[(i + round) % rows.size()];
      double seconds = sample(row, command.threads);
      row.samples.push_back(seconds);
      spent += seconds * double(row.calls);
    }
  }
}

//===----------------------------------------------------------------------===//
// Reporting
//===----------------------------------------------------------------------===//

struct Ceiling {
  double peak, bandwidth; // GFLOP/s, GB/s
};

facet::PeakKind kindOf(const Case &given) {
  if (given.epilogue == Epilogue::Causal) // its bar is a share of this one
    return facet::PeakKind::F32;
  switch (given.type) {
  case Type::F32:
    return facet::PeakKind::F32;
  case Type::F64:
    return facet::PeakKind::F64;
  case Type::BF16:
    return facet::PeakKind::BF16;
  case Type::U8S8:
    return facet::PeakKind::U8S8;
  }
  return facet::PeakKind::F32;
}

/// Just before each case: the clock of the core may have changed.
Ceiling measureCeiling(const Case &given, int threads) {
  static std::map<int, double> bandwidth; // by threads
  auto [entry, isNew] = bandwidth.try_emplace(threads, 0);
  if (isNew)
    entry->second = facet::measureReadBandwidth(unsigned(threads));
  auto peak = facet::measurePeak(kindOf(given), unsigned(threads), 0.01);
  if (!peak) // no instruction: widened, with the f32 one
    peak = facet::measurePeak(facet::PeakKind::F32, unsigned(threads), 0.01);
  return {peak.value_or(0) * 1e-9, entry->second * 1e-9};
}

/// The best median of other peers in the league of `row`, or 0.
double bestOther(const std::vector<Row> &rows, const Row &row) {
  double best = 0;
  for (const Row &other : rows)
    if (!isOurs(other.peer) && other.isRight &&
        isPacked(other.peer) == isPacked(row.peer)) {
      double median = other.median();
      best = best == 0 ? median : std::min(best, median);
    }
  return best;
}

void report(const Case &given, const std::vector<Row> &rows,
            const Ceiling &ceiling, const Command &command, std::FILE *csv) {
  std::printf("%-9s %-26s peak %.1f GFLOP/s\n", given.group.c_str(),
              given.name().c_str(), ceiling.peak);
  for (const Row &row : rows) {
    double best = given.operations() / row.best() * 1e-9;
    double median = given.operations() / row.median() * 1e-9;
    std::printf("  %-20s %8.1f best %8.1f median  %5.3f of peak",
                row.peer.c_str(), best, median, median / ceiling.peak);
    if (double other = bestOther(rows, row); isOurs(row.peer) && other > 0)
      std::printf("  %5.2f × best peer", other / row.median());
    std::printf("%s\n", row.isRight ? "" : "  WRONG");
    if (csv)
      std::fprintf(csv, "%s,%s,%d,%s,%.3f,%.3f,%.3f,%.3f,%d\n",
                   given.group.c_str(), given.name().c_str(), command.threads,
                   row.peer.c_str(), best, median, ceiling.peak,
                   ceiling.bandwidth, int(row.isRight));
  }
  std::fflush(stdout);
  if (csv)
    std::fflush(csv);
}

//===----------------------------------------------------------------------===//
// The command line
//===----------------------------------------------------------------------===//

bool parse(int argc, char **argv, Command &command) {
  auto value = [](const char *argument, const char *name) -> const char * {
    size_t length = std::strlen(name);
    return std::strncmp(argument, name, length) == 0 ? argument + length
                                                     : nullptr;
  };
  for (int i = 1; i < argc; ++i) {
    const char *argument = argv[i];
    if (const char *v = value(argument, "--facet="))
      command.options.facet = v;
    else if (const char *v = value(argument, "--target="))
      command.options.target = v;
    else if (const char *v = value(argument, "--runtime="))
      command.options.runtime = v;
    else if (const char *v = value(argument, "--peers="))
      command.options.peers = v;
    else if (const char *v = value(argument, "--folder="))
      command.options.folder = v;
    else if (const char *v = value(argument, "--csv="))
      command.csv = v;
    else if (const char *v = value(argument, "--threads="))
      command.threads = std::max(1, std::atoi(v));
    else if (const char *v = value(argument, "--seconds="))
      command.seconds = std::atof(v);
    else if (const char *v = value(argument, "--most="))
      command.most = std::atof(v);
    else if (const char *v = value(argument, "--class=")) {
      for (std::string rest = v; !rest.empty();) {
        size_t comma = std::min(rest.find(','), rest.size());
        command.groups.insert(rest.substr(0, comma));
        rest.erase(0, comma + 1);
      }
    } else {
      std::fprintf(stderr, "facet-bench-cpu: unknown argument '%s'\n",
                   argument);
      return false;
    }
  }
  std::set<std::string> known;
  for (const Case &given : allCases())
    known.insert(given.group);
  for (const std::string &group : command.groups)
    if (!known.count(group)) {
      std::fprintf(stderr, "facet-bench-cpu: there is no class '%s'; there is",
                   group.c_str());
      for (const std::string &name : known)
        std::fprintf(stderr, " %s", name.c_str());
      std::fprintf(stderr, "\n");
      return false;
    }
  return true;
}

} // namespace

int main(int argc, char **argv) {
  Command command;
  command.options = {"facet", "native", "", "", "."};
  if (!parse(argc, argv, command))
    return 2;
  std::FILE *csv = nullptr;
  if (command.csv) {
    csv = std::fopen(command.csv, "w");
    if (!csv) {
      std::perror(command.csv);
      return 1;
    }
    std::fprintf(
        csv, "class,case,threads,peer,best_gflops,median_gflops,peak_gflops,"
             "bandwidth_gbs,ok\n");
  }
  Peers peers;
  std::vector<std::string> absent;
  addFacet(peers, command.options);
  addBlas(peers, absent, command.options);
  addOneDnn(peers, absent, command.options);
  addTemplates(peers, absent, command.options);
  for (const std::string &line : absent)
    std::fprintf(stderr, "absent: %s\n", line.c_str());

  bool isRight = true;
  for (const Case &given : allCases()) {
    if ((!command.groups.empty() && !command.groups.count(given.group)) ||
        given.operations() > command.most * 1e9)
      continue;
    Buffers data(given);
    std::vector<Row> rows = prepareRows(peers, given, data, command.threads);
    if (std::none_of(rows.begin(), rows.end(),
                     [](const Row &row) { return isOurs(row.peer); })) {
      std::fprintf(stderr, "%s: facet has no row\n", given.name().c_str());
      isRight = false;
    }
    if (rows.empty())
      continue;
    Ceiling ceiling = measureCeiling(given, command.threads);
    measure(rows, command);
    report(given, rows, ceiling, command, csv);
    for (const Row &row : rows)
      isRight &= row.isRight || !isOurs(row.peer);
  }
  if (csv)
    std::fclose(csv);
  return isRight ? 0 : 1;
}
