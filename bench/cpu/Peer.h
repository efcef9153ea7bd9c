//===- Peer.h - who is measured -------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_BENCH_CPU_PEER_H
#define FACET_BENCH_CPU_PEER_H

#include "Case.h"

#include <functional>

namespace bench {

/// Makes the whole computation of a case once. Owns what was prepared for it.
using Runner = std::function<void()>;

class Peer {
public:
  virtual ~Peer() = default;
  /// As in the column `peer`; packed ones end in `-packed`.
  virtual std::string name() const = 0;
  /// Everything that may be done before the first call, for `threads` threads; empty
  /// when the peer has nothing for this case.
  virtual Runner prepare(const Case &given, Buffers &data, int threads) = 0;
};

/// A library opened at run time: nothing of the build depends on it.
class Library {
public:
  /// Looks for `path` below `folder`.
  Library(const std::string &folder, const std::string &path);
  explicit operator bool() const { return handle != nullptr; }
  /// Why it cannot be opened.
  const std::string &why() const { return reason; }
  template <typename Function>
  Function *find(const std::string &symbol) const {
    return reinterpret_cast<Function *>(lookUp(symbol));
  }

private:
  void *lookUp(const std::string &symbol) const;
  void *handle = nullptr;
  std::string reason;
};

struct Options {
  std::string facet;   ///< the compiler
  std::string target;  ///< for --target
  std::string runtime; ///< the folder of libfacet-runtime
  std::string peers;   ///< the folder of the libraries
  std::string folder;  ///< for what is compiled
};

using Peers = std::vector<std::unique_ptr<Peer>>;
// Each adds its peers, or a line to `absent` with the reason why not.
void addFacet(Peers &peers, const Options &options);
void addBlas(Peers &peers, std::vector<std::string> &absent,
             const Options &options);
void addOneDnn(Peers &peers, std::vector<std::string> &absent,
               const Options &options);
void addTemplates(Peers &peers, std::vector<std::string> &absent,
                  const Options &options);

} // namespace bench

#endif // FACET_BENCH_CPU_PEER_H
