//===- Templates.cpp - the peers that are compiled ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Eigen is a library of templates and libxsmm an archive. `dev bench cpu` compiles
// shims/eigen.cpp and shims/libxsmm.c for this machine; what is opened here are two
// functions of the form
//
//   int peer_f32(m, n, k, a, b, c)        1: nothing for this shape
//
//===----------------------------------------------------------------------===//

#include "Peer.h"

using namespace bench;

namespace {
template <typename T>
using Multiply = int(int64_t, int64_t, int64_t, const T *, const T *, T *);

class Compiled : public Peer {
public:
  Compiled(std::string name, std::shared_ptr<Library> library)
      : label(std::move(name)), library(std::move(library)) {}
  std::string name() const override { return label; }

  Runner prepare(const Case &given, Buffers &data, int threads) override {
    if (given.epilogue != Epilogue::None)
      return {};
    auto *set = library->find<void(int)>("peer_threads");
    if (set)
      set(threads);
    else if (threads > 1)
      return {};
    if (given.type == Type::F32)
      return make<float>("peer_f32", given, data);
    if (given.type == Type::F64)
      return make<double>("peer_f64", given, data);
    return {};
  }

private:
  template <typename T>
  Runner make(const char *symbol, const Case &given, Buffers &data) {
    auto *multiply = library->find<Multiply<T>>(symbol);
    const int64_t m = given.m, n = given.n, k = given.k, batch = given.batch;
    const T *a = data.a.as<T>(), *b = data.b.as<T>();
    T *c = data.c.as<T>();
    if (!multiply || multiply(m, n, k, a, b, c))
      return {};
    return [=] {
      for (int64_t i = 0; i < batch; ++i)
        multiply(m, n, k, a + i * m * k, b + i * k * n, c + i * m * n);
    };
  }

  std::string label;
  std::shared_ptr<Library> library;
};
} // namespace

void bench::addTemplates(Peers &peers, std::vector<std::string> &absent,
                         const Options &options) {
  for (auto [name, path] : {std::pair{"eigen", "libeigen-peer.so"},
                            std::pair{"libxsmm", "liblibxsmm-peer.so"}}) {
    auto library = std::make_shared<Library>(options.peers, path);
    if (*library)
      peers.push_back(std::make_unique<Compiled>(name, library));
    else
      absent.push_back(std::string(name) + ": " + library->why());
  }
}
