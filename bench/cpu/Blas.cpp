//===- Blas.cpp - the peers behind CBLAS ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// OpenBLAS, MKL and BLIS, opened at run time. All are called for dense rows:
//
//   cblas_sgemm(row major, no, no, m, n, k, 1, a, k, b, n, 0, c, n)
//
// MKL also packs b beforehand, which is the league of the rows that end in `-packed`,
// and has bf16 and u8·s8. Its threads are GNU's, which oneDNN's wheel uses too.
//
//===----------------------------------------------------------------------===//

#include "Peer.h"

using namespace bench;

namespace {

enum {
  RowMajor = 101,
  NoTrans = 111,
  BMatrix = 162,
  Packed = 151,
  FixOffset = 173
};

template <typename T>
using Gemm = void(int, int, int, int, int, int, T, const T *, int, const T *,
                  int, T, T *, int);
/// Of OpenBLAS and of MKL, whose integers are 32-bit here.
using Bf16Gemm = void(int, int, int, int, int, int, float, const uint16_t *,
                      int, const uint16_t *, int, float, float *, int);
template <typename Stride>
using BatchGemm = void(int, int, int, int, int, int, float, const float *, int,
                       Stride, const float *, int, Stride, float, float *, int,
                       Stride, int);
using IntGemm = void(int, int, int, int, int, int, int, float, const void *,
                     int, int8_t, const void *, int, int8_t, float, int32_t *,
                     int, const int32_t *);
using PackSize = size_t(int, int, int, int);
template <typename T>
using Pack = void(int, int, int, int, int, int, T, const T *, int, T *);
template <typename T>
using Compute = void(int, int, int, int, int, int, const T *, int, const T *,
                     int, T, T *, int);
using PackLow = void(int, int, int, int, int, int, const void *, int, void *);
using Bf16Compute = void(int, int, int, int, int, int, float, const uint16_t *,
                         int, const uint16_t *, int, float, float *, int);
using IntCompute = void(int, int, int, int, int, int, int, float, const void *,
                        int, int8_t, const void *, int, int8_t, float,
                        int32_t *, int, const int32_t *);

class Blas : public Peer {
public:
  Blas(std::string name, std::shared_ptr<Library> library, std::string prefix,
       std::function<void(int)> setThreads)
      : label(std::move(name)), library(std::move(library)),
        prefix(std::move(prefix)), setThreads(std::move(setThreads)) {}

  std::string name() const override { return label; }

  Runner prepare(const Case &given, Buffers &data, int threads) override {
    if (given.epilogue != Epilogue::None)
      return {};
    const int m = int(given.m), n = int(given.n), k = int(given.k);
    setThreads(threads);
    switch (given.type) {
    case Type::F32:
      return given.batch > 1 ? batched(given, data)
                             : full<float>("cblas_sgemm", m, n, k, data);
    case Type::F64:
      return full<double>("cblas_dgemm", m, n, k, data);
    case Type::BF16: {
      bool isMkl = label == "mkl";
      auto *gemm = library->find<Bf16Gemm>(
          prefix + (isMkl ? "cblas_gemm_bf16bf16f32" : "cblas_sbgemm"));
      if (!gemm)
        return {};
      const auto *a = data.a.as<uint16_t>(), *b = data.b.as<uint16_t>();
      auto *c = data.c.as<float>();
      return [=] {
        gemm(RowMajor, NoTrans, NoTrans, m, n, k, 1, a, k, b, n, 0, c, n);
      };
    }
    case Type::U8S8: {
      auto *gemm = library->find<IntGemm>(prefix + "cblas_gemm_s8u8s32");
      if (!gemm)
        return {};
      const char *a = data.a.data(), *b = data.b.data();
      auto *c = data.c.as<int32_t>();
      return [=] { // of rows, the first operand is the unsigned one
        const int32_t zero = 0;
        gemm(RowMajor, NoTrans, NoTrans, FixOffset, m, n, k, 1, a, k, 0, b, n,
             0, 0, c, n, &zero);
      };
    }
    }
    return {};
  }

private:
  template <typename T>
  Runner full(const char *symbol, int m, int n, int k, Buffers &data) {
    auto *gemm = library->find<Gemm<T>>(prefix + symbol);
    if (!gemm)
      return {};
    const T *a = data.a.as<T>(), *b = data.b.as<T>();
    T *c = data.c.as<T>();
    return [=] {
      gemm(RowMajor, NoTrans, NoTrans, m, n, k, 1, a, k, b, n, 0, c, n);
    };
  }

  /// One call for all where there is one, else a loop.
  Runner batched(const Case &given, Buffers &data) {
    const int m = int(given.m), n = int(given.n), k = int(given.k);
    const int batch = int(given.batch);
    const auto *a = data.a.as<float>(), *b = data.b.as<float>();
    auto *c = data.c.as<float>();
    const std::string symbol = prefix + "cblas_sgemm_batch_strided";
    auto run = [=](auto *gemm) -> Runner {
      return [=] {
        gemm(RowMajor, NoTrans, NoTrans, m, n, k, 1, a, k, m * k, b, n, k * n,
             0, c, n, m * n, batch);
      };
    };
    if (library->find<void>(symbol))
      return run(library->find<BatchGemm<int>>(symbol));
    auto *gemm = library->find<Gemm<float>>(prefix + "cblas_sgemm");
    if (!gemm)
      return {};
    return [=] {
      for (int64_t i = 0; i < batch; ++i)
        gemm(RowMajor, NoTrans, NoTrans, m, n, k, 1, a + i * m * k, k,
             b + i * k * n, n, 0, c + i * m * n, n);
    };
  }

protected:
  std::string label;
  std::shared_ptr<Library> library;
  std::string prefix;
  std::function<void(int)> setThreads;
};

/// MKL with b packed beforehand.
class PackedMkl : public Blas {
public:
  using Blas::Blas;

  Runner prepare(const Case &given, Buffers &data, int threads) override {
    if (given.epilogue != Epilogue::None || given.batch > 1)
      return {};
    setThreads(threads);
    switch (given.type) {
    case Type::F32:
      return full<float>("cblas_sgemm", given, data);
    case Type::F64:
      return full<double>("cblas_dgemm", given, data);
    case Type::BF16:
      return low<Bf16Compute>("cblas_gemm_bf16bf16f32", given, data);
    case Type::U8S8:
      return low<IntCompute>("cblas_gemm_s8u8s32", given, data);
    }
    return {};
  }

private:
  std::shared_ptr<Memory> room(const std::string &symbol, int m, int n, int k) {
    auto *size = library->find<PackSize>(symbol + "_pack_get_size");
    return size ? std::make_shared<Memory>(size(BMatrix, m, n, k)) : nullptr;
  }

  template <typename T>
  Runner full(const std::string &symbol, const Case &given, Buffers &data) {
    const int m = int(given.m), n = int(given.n), k = int(given.k);
    auto *pack = library->find<Pack<T>>(symbol + "_pack");
    auto *compute = library->find<Compute<T>>(symbol + "_compute");
    std::shared_ptr<Memory> packed = room(symbol, m, n, k);
    if (!pack || !compute || !packed)
      return {};
    pack(RowMajor, BMatrix, NoTrans, m, n, k, 1, data.b.as<T>(), n,
         packed->as<T>());
    const T *a = data.a.as<T>();
    T *c = data.c.as<T>();
    return [=] {
      compute(RowMajor, NoTrans, Packed, m, n, k, a, k, packed->as<T>(), n, 0,
              c, n);
    };
  }

  template <typename Function>
  Runner low(const std::string &symbol, const Case &given, Buffers &data) {
    const int m = int(given.m), n = int(given.n), k = int(given.k);
    auto *pack = library->find<PackLow>(symbol + "_pack");
    auto *compute = library->find<Function>(symbol + "_compute");
    std::shared_ptr<Memory> packed = room(symbol, m, n, k);
    if (!pack || !compute || !packed)
      return {};
    pack(RowMajor, BMatrix, NoTrans, m, n, k, data.b.data(), n, packed->data());
    if constexpr (std::is_same_v<Function, IntCompute>) {
      const char *a = data.a.data();
      auto *c = data.c.as<int32_t>();
      return [=] {
        const int32_t zero = 0;
        compute(RowMajor, NoTrans, Packed, FixOffset, m, n, k, 1, a, k, 0,
                packed->data(), n, 0, 0, c, n, &zero);
      };
    } else {
      const auto *a = data.a.as<uint16_t>();
      auto *c = data.c.as<float>();
      return [=] {
        compute(RowMajor, NoTrans, Packed, m, n, k, 1, a, k,
                packed->as<uint16_t>(), n, 0, c, n);
      };
    }
  }
};

} // namespace

void bench::addBlas(Peers &peers, std::vector<std::string> &absent,
                    const Options &options) {
  auto open = [&](const char *name, const char *path) {
    auto library = std::make_shared<Library>(options.peers, path);
    if (!*library)
      absent.push_back(std::string(name) + ": " + library->why());
    return library;
  };
  if (auto openBlas = open("openblas", "libscipy_openblas.so"); *openBlas) {
    auto *set = openBlas->find<void(int)>("scipy_openblas_set_num_threads");
    peers.push_back(
        std::make_unique<Blas>("openblas", openBlas, "scipy_", [set](int n) {
          if (set)
            set(n);
        }));
  }
  if (auto mkl = open("mkl", "libmkl_rt.so.3"); *mkl) {
    constexpr int gnuThreads = 3;
    if (auto *layer = mkl->find<int(int)>("MKL_Set_Threading_Layer"))
      layer(gnuThreads);
    auto *set = mkl->find<void(int)>("MKL_Set_Num_Threads");
    auto setThreads = [set](int n) {
      if (set)
        set(n);
    };
    peers.push_back(std::make_unique<Blas>("mkl", mkl, "", setThreads));
    peers.push_back(
        std::make_unique<PackedMkl>("mkl-packed", mkl, "", setThreads));
  }
  if (auto blis = open("blis", "libblis.so.4"); *blis) {
    auto *set = blis->find<void(int64_t)>("bli_thread_set_num_threads");
    peers.push_back(std::make_unique<Blas>("blis", blis, "", [set](int n) {
      if (set)
        set(n);
    }));
  }
}
