//===- OneDnn.cpp - the peer oneDNN ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A matmul primitive with its post-operations, through the C interface of version 3:
// the few constants that are needed stand here, so that no header is. `onednn` has
// the weights as dense rows; `onednn-packed` lets the primitive choose their layout and
// brings them into it beforehand.
//
//===----------------------------------------------------------------------===//

#include "Peer.h"

using namespace bench;

namespace {

using Handle = void *;
using Dims = int64_t[12];
struct Argument {
  int number;
  Handle memory;
};

enum { Cpu = 1, InOrder = 1, TagAny = 1, QueryWeights = 131 };
enum { ArgSource = 1, ArgResult = 17, ArgWeights = 33, ArgBias = 41 };
enum { ArgFrom = 1, ArgTo = 17 };
enum { Bf16 = 2, F32 = 3, S32 = 4, S8 = 5, U8 = 6, F64 = 7 };
enum { Relu = 0x20, GeluErf = 0x31 };

/// What is called, found once.
struct Api {
  std::shared_ptr<Library> library;
  bool isWhole = true;
  Handle engine = nullptr, stream = nullptr;

  template <typename Function>
  Function *find(const char *name) {
    auto *function = library->find<Function>(name);
    isWhole &= function != nullptr;
    return function;
  }
#define FACET_FUNCTION(name, ...)                                              \
  int (*name)(__VA_ARGS__) = find<int(__VA_ARGS__)>("dnnl_" #name)
  explicit Api(std::shared_ptr<Library> opened) : library(std::move(opened)) {}
  FACET_FUNCTION(engine_create, Handle *, int, size_t);
  FACET_FUNCTION(stream_create, Handle *, Handle, unsigned);
  FACET_FUNCTION(stream_wait, Handle);
  FACET_FUNCTION(memory_desc_create_with_strides, Handle *, int,
                 const int64_t *, int, const int64_t *);
  FACET_FUNCTION(memory_desc_create_with_tag, Handle *, int, const int64_t *,
                 int, int);
  FACET_FUNCTION(memory_create, Handle *, Handle, Handle, void *);
  FACET_FUNCTION(matmul_primitive_desc_create, Handle *, Handle, Handle, Handle,
                 Handle, Handle, Handle);
  FACET_FUNCTION(reorder_primitive_desc_create, Handle *, Handle, Handle,
                 Handle, Handle, Handle);
  FACET_FUNCTION(primitive_create, Handle *, Handle);
  FACET_FUNCTION(primitive_execute, Handle, Handle, int, const Argument *);
  FACET_FUNCTION(primitive_attr_create, Handle *);
  FACET_FUNCTION(primitive_attr_set_post_ops, Handle, Handle);
  FACET_FUNCTION(post_ops_create, Handle *);
  FACET_FUNCTION(post_ops_append_eltwise, Handle, int, float, float);
  Handle (*primitive_desc_query_md)(Handle, int, int) =
      find<Handle(Handle, int, int)>("dnnl_primitive_desc_query_md");
  size_t (*memory_desc_get_size)(Handle) =
      find<size_t(Handle)>("dnnl_memory_desc_get_size");
#undef FACET_FUNCTION
};

class OneDnn : public Peer {
public:
  OneDnn(std::shared_ptr<Api> api, std::function<void(int)> setThreads,
         bool isPacked)
      : api(std::move(api)), setThreads(std::move(setThreads)),
        isPacked(isPacked) {}

  std::string name() const override {
    return isPacked ? "onednn-packed" : "onednn";
  }
  Runner prepare(const Case &given, Buffers &data, int threads) override;

private:
  /// Dense rows, of many matrices where `batch` is above 1; null when refused.
  Handle rows(int64_t batch, int64_t m, int64_t n, int type) {
    Handle result = nullptr;
    if (batch > 1) {
      Dims dims = {batch, m, n}, strides = {m * n, n, 1};
      api->memory_desc_create_with_strides(&result, 3, dims, type, strides);
    } else {
      Dims dims = {m, n}, strides = {n, 1};
      api->memory_desc_create_with_strides(&result, 2, dims, type, strides);
    }
    return result;
  }
  Handle memory(Handle description, void *data) {
    Handle result = nullptr;
    api->memory_create(&result, description, api->engine, data);
    return result;
  }
  bool reorder(Handle from, void *source, Handle to, void *target) {
    Handle description = nullptr, primitive = nullptr;
    if (api->reorder_primitive_desc_create(&description, from, api->engine, to,
                                           api->engine, nullptr) ||
        api->primitive_create(&primitive, description))
      return false;
    Argument arguments[] = {{ArgFrom, memory(from, source)},
                            {ArgTo, memory(to, target)}};
    return !api->primitive_execute(primitive, api->stream, 2, arguments) &&
           !api->stream_wait(api->stream);
  }

  std::shared_ptr<Api> api;
  std::function<void(int)> setThreads;
  bool isPacked;
};

} // namespace

// Descriptions and primitives are few and live as long as the program.
Runner OneDnn::prepare(const Case &given, Buffers &data, int threads) {
  if (given.epilogue == Epilogue::SwiGlu ||
      given.epilogue == Epilogue::Causal || (isPacked && given.batch > 1))
    return {};
  setThreads(threads);
  int typeA = F32, typeB = F32, typeC = F32;
  if (given.type == Type::F64)
    return {}; // no f64 matmul on CPUs
  if (given.type == Type::BF16)
    typeA = typeB = Bf16;
  if (given.type == Type::U8S8)
    typeA = U8, typeB = S8, typeC = S32;

  Handle a = rows(given.batch, given.m, given.k, typeA);
  Handle b = rows(given.batch, given.k, given.n, typeB), wanted = b;
  Handle c = rows(given.batch, given.m, given.n, typeC);
  Handle bias = nullptr, attributes = nullptr, postOps = nullptr;
  if (isPacked) {
    Dims dims = {given.k, given.n};
    api->memory_desc_create_with_tag(&wanted, 2, dims, typeB, TagAny);
  }
  api->primitive_attr_create(&attributes);
  if (given.epilogue != Epilogue::None) {
    bias = rows(1, 1, given.n, F32);
    api->post_ops_create(&postOps);
    api->post_ops_append_eltwise(
        postOps, given.epilogue == Epilogue::BiasRelu ? Relu : GeluErf, 0, 0);
    api->primitive_attr_set_post_ops(attributes, postOps);
  }
  Handle description = nullptr, primitive = nullptr;
  if (api->matmul_primitive_desc_create(&description, api->engine, a, wanted,
                                        bias, c, attributes) ||
      api->primitive_create(&primitive, description))
    return {};

  std::shared_ptr<Memory> packed;
  void *weights = data.b.data();
  if (isPacked) {
    wanted = api->primitive_desc_query_md(description, QueryWeights, 0);
    packed = std::make_shared<Memory>(api->memory_desc_get_size(wanted));
    weights = packed->data();
    if (!reorder(b, data.b.data(), wanted, weights))
      return {};
  }
  std::vector<Argument> arguments = {{ArgSource, memory(a, data.a.data())},
                                     {ArgWeights, memory(wanted, weights)},
                                     {ArgResult, memory(c, data.c.data())}};
  if (bias)
    arguments.push_back({ArgBias, memory(bias, data.bias.data())});
  std::shared_ptr<Api> used = api;
  return [used, primitive, arguments, packed] {
    used->primitive_execute(primitive, used->stream, int(arguments.size()),
                            arguments.data());
    used->stream_wait(used->stream);
  };
}

void bench::addOneDnn(Peers &peers, std::vector<std::string> &absent,
                      const Options &options) {
  auto library = std::make_shared<Library>(options.peers, "libdnnl.so.3");
  if (!*library) {
    absent.push_back("onednn: " + library->why());
    return;
  }
  auto api = std::make_shared<Api>(library);
  if (!api->isWhole || api->engine_create(&api->engine, Cpu, 0) ||
      api->stream_create(&api->stream, api->engine, InOrder)) {
    absent.push_back("onednn: its interface is another one than version 3's");
    return;
  }
  auto gomp = std::make_shared<Library>("", "libgomp.so.1");
  auto *set = gomp->find<void(int)>("omp_set_num_threads");
  auto setThreads = [gomp, set](int n) {
    if (set)
      set(n);
  };
  peers.push_back(std::make_unique<OneDnn>(api, setThreads, false));
  peers.push_back(std::make_unique<OneDnn>(api, setThreads, true));
}
