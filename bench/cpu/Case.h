//===- Case.h - what is measured ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A case is one matmul c = a·b (rows of a: m, columns of b: n, length of a sum: k),
// perhaps many of them, perhaps with something behind it. All peers of a case work on
// the same buffers.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_BENCH_CPU_CASE_H
#define FACET_BENCH_CPU_CASE_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bench {

enum class Type { F32, F64, BF16, U8S8 };
enum class Epilogue { None, BiasRelu, BiasGelu, SwiGlu, Causal };

struct Case {
  std::string group; ///< the class
  Type type = Type::F32;
  int64_t m = 0, n = 0, k = 0;
  Epilogue epilogue = Epilogue::None;
  int64_t batch = 1;

  /// `f32:64x64x64:bias_relu`
  std::string name() const;
  /// Additions and multiplications of the sums; of causal attention, where the filter
  /// holds.
  double operations() const;
};

/// All cases, class by class.
std::vector<Case> allCases();

/// Bytes of an operand's and of a result's element.
size_t operandBytes(Type type);
size_t resultBytes(Type type);

/// 64-byte aligned memory.
class Memory {
public:
  explicit Memory(size_t bytes = 0);
  template <typename T>
  T *as() const {
    return reinterpret_cast<T *>(memory.get());
  }
  char *data() const { return memory.get(); }
  size_t size() const { return bytes; }

private:
  struct Free {
    void operator()(char *memory) const;
  };
  std::unique_ptr<char, Free> memory;
  size_t bytes = 0;
};

/// Operands with random values in [-1, 1) (integers: their range), and the result. b2
/// is the second weight of a SwiGLU pair, or the values of attention.
struct Buffers {
  explicit Buffers(const Case &given);
  const Case &given;
  Memory a, b, b2, bias, c;

  /// Fills the result with what no peer leaves by chance.
  void poison();
  /// Whether the result is right, on corners and a random sample: integers exactly,
  /// floats within the bound of a sum of k products in the type's sums.
  bool isRight() const;
};

} // namespace bench

#endif // FACET_BENCH_CPU_CASE_H
