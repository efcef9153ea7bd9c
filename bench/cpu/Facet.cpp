//===- Facet.cpp - our own rows -------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the case as a kernel, has `facet compile` make a shared library of it, and calls
// that as any program would:
//
//   kernel bench(a: f32[64, 32], b: const f32[32, 48]) -> c: f32[64, 48] {
//     c[m, n] = sum[k](a[m, k] * b[k, n])
//   }
//
// `facet` passes b as it is, `facet-packed` has bench_pack_b make of it what it likes.
// Sizes are in the text: whoever cares for speed knows his shapes.
//
//===----------------------------------------------------------------------===//

#include "Peer.h"
#include "facet/abi.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>

using namespace bench;

//===----------------------------------------------------------------------===//
// The text
//===----------------------------------------------------------------------===//

static std::string shape(std::initializer_list<int64_t> extents,
                         int64_t batch) {
  std::string text = batch > 1 ? std::to_string(batch) : "";
  for (int64_t extent : extents)
    text += (text.empty() ? "" : ", ") + std::to_string(extent);
  return "[" + text + "]";
}

static std::string attentionText(const Case &given) {
  const std::string type = given.type == Type::F32 ? "f32" : "bf16";
  const std::string of = type + shape({given.m, given.k}, given.batch);
  const std::string scale = "rsqrt(" + std::to_string(given.k) + ".0)";
  const std::string weight =
      given.type == Type::F32 ? "p[h, i, j]" : "bf16(p[h, i, j])";
  return "kernel bench(a: " + of + ", b: " + of + ", v: " + of + ") -> c: f32" +
         shape({given.m, given.k}, given.batch) +
         " {\n"
         "  let s[h, i, j] = sum[d](a[h, i, d] * b[h, j, d]) * " +
         scale +
         "\n"
         "  let p[h, i, j] = softmax[j | j <= i](s[h, i, j])\n"
         "  c[h, i, d] = sum[j | j <= i](" +
         weight + " * v[h, j, d])\n}\n";
}

static std::string textOf(const Case &given) {
  if (given.epilogue == Epilogue::Causal)
    return attentionText(given);
  const char *left = "f32", *right = "f32", *result = "f32";
  switch (given.type) {
  case Type::F32:
    break;
  case Type::F64:
    left = right = result = "f64";
    break;
  case Type::BF16:
    left = right = "bf16";
    break;
  case Type::U8S8:
    left = "u8", right = "i8", result = "i32";
    break;
  }
  const std::string i = given.batch > 1 ? "h, " : "";
  const std::string weights = right + shape({given.k, given.n}, given.batch);
  auto product = [&](const char *of) {
    return "sum[k](a[" + i + "m, k] * " + of + "[" + i + "k, n])";
  };
  std::string more, value = product("b");
  switch (given.epilogue) {
  case Epilogue::BiasRelu:
    more = ", d: f32" + shape({given.n}, 1);
    value = "relu(" + value + " + d[n])";
    break;
  case Epilogue::BiasGelu:
    more = ", d: f32" + shape({given.n}, 1);
    value = "gelu(" + value + " + d[n])";
    break;
  case Epilogue::SwiGlu:
    more = ", v: const " + weights;
    value = "silu(" + value + ") * " + product("v");
    break;
  default:
    break;
  }
  return "kernel bench(a: " + (left + shape({given.m, given.k}, given.batch)) +
         ", b: const " + weights + more +
         ") -> c: " + (result + shape({given.m, given.n}, given.batch)) +
         " {\n  c[" + i + "m, n] = " + value + "\n}\n";
}

//===----------------------------------------------------------------------===//
// Calling
//===----------------------------------------------------------------------===//

namespace {

using Rows = const int64_t *; // strides of three axes; NULL: dense
using Exec = const facet_exec *;

/// What a call needs beside its arguments.
struct Setting {
  facet_exec exec = FACET_EXEC_INIT;
  Memory workspace;
  std::shared_ptr<Library> code;
  std::vector<Memory> packed;
};

class Facet : public Peer {
public:
  Facet(const Options &options, std::shared_ptr<Library> runtime, bool isPacked)
      : options(options), runtime(std::move(runtime)), isPacked(isPacked) {}

  std::string name() const override {
    return isPacked ? "facet-packed" : "facet";
  }
  Runner prepare(const Case &given, Buffers &data, int threads) override;

private:
  std::shared_ptr<Library> compile(const Case &given);

  Options options;
  std::shared_ptr<Library> runtime;
  bool isPacked;
};

} // namespace

std::shared_ptr<Library> Facet::compile(const Case &given) {
  std::string file = given.group + "-" + given.name();
  for (char &c : file)
    if (c == ':')
      c = '-';
  const std::string path = options.folder + "/" + file;
  auto made = std::make_shared<Library>(options.folder, file + ".so");
  if (*made) // by the other row of the same case
    return made;
  std::ofstream(path + ".facet") << textOf(given);
  std::string command = "'" + options.facet + "' compile '" + path +
                        ".facet' --target=" + options.target + " -w -o '" +
                        path + ".so'";
  if (std::system(command.c_str()) != 0)
    return nullptr;
  return std::make_shared<Library>(options.folder, file + ".so");
}

Runner Facet::prepare(const Case &given, Buffers &data, int threads) {
  const bool hasConst = given.epilogue != Epilogue::Causal && given.batch == 1;
  if (isPacked && !hasConst)
    return {};
  auto set = std::make_shared<Setting>();
  set->code = compile(given);
  if (!set->code || !*set->code)
    return {};
  if (threads > 1) {
    auto *get = runtime->find<Exec()>("facet_default_exec");
    if (!get || get()->threads < threads)
      return {};
    set->exec = *get();
  }
  auto *workspace = set->code->find<size_t(int)>("bench_workspace");
  set->workspace = Memory(workspace(threads));
  set->exec.workspace = set->workspace.data();
  set->exec.workspace_bytes = set->workspace.size();

  // Every pointer is followed by its stride, or the address of its strides.
  auto rows = [&](int64_t columns) {
    return given.batch > 1 || given.epilogue == Epilogue::Causal ? 0 : columns;
  };
  using Word = intptr_t;
  std::vector<Word> words;
  auto pass = [&](const Memory &memory, int64_t columns) {
    words.push_back(reinterpret_cast<Word>(memory.data()));
    words.push_back(Word(rows(columns)));
  };
  auto passConst = [&](const char *operand, const Memory &memory) {
    if (!isPacked)
      return pass(memory, given.n);
    const std::string symbol = std::string("bench_pack_") + operand;
    size_t bytes = set->code->find<size_t()>(symbol + "_bytes")();
    set->packed.emplace_back(bytes);
    set->code->find<int(const void *, int64_t, void *)>(symbol)(
        memory.data(), given.n, set->packed.back().data());
    words.push_back(reinterpret_cast<Word>(set->packed.back().data()));
  };
  pass(data.a, given.k);
  if (given.epilogue == Epilogue::Causal) {
    pass(data.b, 0);
    pass(data.b2, 0);
  } else {
    passConst("b", data.b);
  }
  if (given.epilogue == Epilogue::BiasRelu ||
      given.epilogue == Epilogue::BiasGelu)
    words.push_back(reinterpret_cast<Word>(data.bias.data()));
  if (given.epilogue == Epilogue::SwiGlu)
    passConst("v", data.b2);
  pass(data.c, given.n);
  words.push_back(reinterpret_cast<Word>(&set->exec));

  // All words are of one class in the calling convention; those a function does not
  // take are not looked at.
  using Call = int(Word, Word, Word, Word, Word, Word, Word, Word, Word, Word);
  words.resize(10);
  auto *call = set->code->find<Call>(isPacked ? "bench_packed" : "bench");
  if (!call)
    return {};
  std::vector<Word> w = words;
  auto run = [set, call, w] {
    return call(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9]);
  };
  if (int code = run()) {
    std::fprintf(stderr, "%s %s: %s\n", name().c_str(), given.name().c_str(),
                 facet_strerror(code));
    return {};
  }
  return run;
}

void bench::addFacet(Peers &peers, const Options &options) {
  auto runtime =
      std::make_shared<Library>(options.runtime, "libfacet-runtime.so");
  peers.push_back(std::make_unique<Facet>(options, runtime, false));
  peers.push_back(std::make_unique<Facet>(options, runtime, true));
}
