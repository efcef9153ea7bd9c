//===- ArrayTest.cpp - .npy files, good and hostile -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What NumPy and ml_dtypes themselves write is read in test/Driver/npy.test; here
// are the files nobody should write.
//
//===----------------------------------------------------------------------===//

#include "facet/Driver/Array.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace facet;

/// A version `major` file with `header` and `data`.
static std::string npy(std::string header, std::string data, int major = 1) {
  std::string file("\x93NUMPY", 6);
  file += char(major);
  file += '\0';
  size_t length = header.size();
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i)
    file += char(length >> (8 * i));
  return file + header + data;
}

static std::string dict(std::string descr, std::string shape,
                        std::string order = "False") {
  return "{'descr': " + descr + ", 'fortran_order': " + order +
         ", 'shape': " + shape + ", }\n";
}

static std::string refusal(const std::string &file,
                           ScalarType type = ScalarType::F32) {
  llvm::Expected<Array> array = readNpy(file, type);
  return array ? "accepted" : llvm::toString(array.takeError());
}

TEST(Npy, readsEveryVersion) {
  for (int major : {1, 2, 3}) {
    llvm::Expected<Array> array =
        readNpy(npy(dict("'<i4'", "(2,)"),
                    std::string("\1\0\0\0\xfe\xff\xff\xff", 8), major),
                ScalarType::I32);
    ASSERT_TRUE(bool(array)) << llvm::toString(array.takeError());
    EXPECT_EQ(elementAsInteger(*array, 0), 1);
    EXPECT_EQ(elementAsInteger(*array, 1), -2);
  }
}

TEST(Npy, turnsFortranOrderAndBigEndian) {
  // Columns (1, 2), (3, 4), (5, 6) of a 2 by 3 array.
  std::string data;
  for (char c : {1, 2, 3, 4, 5, 6})
    data += std::string(1, '\0') + c;
  llvm::Expected<Array> array =
      readNpy(npy(dict("'>i2'", "(2, 3)", "True"), data), ScalarType::I16);
  ASSERT_TRUE(bool(array)) << llvm::toString(array.takeError());
  std::vector<int64_t> values;
  for (int64_t i = 0; i < array->count(); ++i)
    values.push_back(elementAsInteger(*array, i));
  EXPECT_EQ(values, (std::vector<int64_t>{1, 3, 5, 2, 4, 6}));
}

TEST(Npy, refusesDamage) {
  EXPECT_EQ(refusal(""), "it is no .npy file");
  EXPECT_EQ(refusal("PK\3\4"), "it is no .npy file");
  EXPECT_EQ(refusal("\x93NUMPY"), "its header is cut short");
  EXPECT_EQ(refusal(npy(dict("'<f4'", "(1,)"), "").substr(0, 20)),
            "its header is cut short");
  EXPECT_EQ(refusal(npy("", "", 9)),
            "its format version is 9.0; 1.0, 2.0 and 3.0 are known");
  EXPECT_EQ(refusal(npy("", "")), "its header is no dictionary");
  EXPECT_EQ(refusal(npy("{", "")), "its header is damaged");
  EXPECT_EQ(refusal(npy("{'descr' '<f4'}", "")), "its header is damaged");
  EXPECT_EQ(refusal(npy("{'descr': '<f4'}", "")),
            "its header lacks 'fortran_order'");
  EXPECT_EQ(refusal(npy("{'descr': '<f4', 'descr': '<f4'}", "")),
            "its header has the key 'descr' twice");
  EXPECT_EQ(refusal(npy("{'colour': 'red'}", "")),
            "its header has an unknown key");
  EXPECT_EQ(refusal(npy(dict("'<f4'", "(1,)", "Maybe"), "")),
            "the 'fortran_order' of its header is neither True nor False");
  EXPECT_EQ(refusal(npy(dict("7", "(1,)"), "")),
            "the 'descr' of its header is damaged");
  EXPECT_EQ(refusal(npy(dict("'<f4'", "[1]"), "")),
            "the 'shape' of its header is no tuple");
  EXPECT_EQ(refusal(npy(dict("'<f4'", "(1 2)"), "")),
            "the 'shape' of its header is damaged");
  EXPECT_EQ(refusal(npy(dict("'<f4'", "(-1,)"), "")),
            "the 'shape' of its header has something other than sizes");
  EXPECT_EQ(refusal(npy(dict("'<f4'", "(99999999999999999999,)"), "")),
            "the 'shape' of its header has something other than sizes");
  std::string axes;
  for (int i = 0; i < 65; ++i)
    axes += "1,";
  EXPECT_EQ(refusal(npy(dict("'<f4'", "(" + axes + ")"), "")),
            "its shape has more than 64 axes");
}

TEST(Npy, refusesSizesThatDoNotFit) {
  EXPECT_EQ(refusal(npy(dict("'<f4'", "(3,)"), "12345678")),
            "its shape (3) needs 12 bytes of data, the file has 8");
  EXPECT_EQ(refusal(npy(dict("'<f4'", "(1,)"), "12345678")),
            "its shape (1) needs 4 bytes of data, the file has 8");
  EXPECT_EQ(refusal(npy(dict("'<f4'", "(4611686018427387904, 4)"), "")),
            "its shape (4611686018427387904, 4) is larger than memory");
  EXPECT_EQ(refusal(npy(dict("'<f4'", "(4611686018427387904, 4, 0)"), "")),
            "its shape (4611686018427387904, 4, 0) is larger than memory");
}

TEST(Npy, refusesOtherTypes) {
  EXPECT_EQ(refusal(npy(dict("'<f8'", "()"), "12345678")),
            "it holds float64 ('<f8'); f32 needs float32 ('f4')");
  EXPECT_EQ(refusal(npy(dict("'<u2'", "()"), "12"), ScalarType::BF16),
            "it holds uint16 ('<u2'); bf16 needs 16-bit void, as ml_dtypes "
            "stores bfloat16 ('V2')");
  EXPECT_EQ(refusal(npy(dict("[('a', '<f4')]", "()"), "1234")),
            "it holds records; one plain array is needed");
  EXPECT_EQ(refusal(npy(dict("'|O'", "()"), "")),
            "it holds '|O'; f32 needs float32 ('f4')");
  EXPECT_EQ(refusal(npy(dict("'|b1'", "(2,)"), std::string("\1\2", 2)),
                    ScalarType::Bool),
            "byte 2 at element 1 is no bool");
}

TEST(Npy, answersAnyBytes) {
  // Mutants of a good file: an array or a reason, and never more data than bytes.
  const std::string good = npy(dict("'<f4'", "(2, 3)"), std::string(24, 'x'));
  uint64_t state = 1;
  auto random = [&](uint64_t bound) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % bound;
  };
  unsigned accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string file = good;
    for (uint64_t edits = random(4) + 1; edits; --edits) {
      size_t at = random(file.size());
      switch (random(4)) {
      case 0:
        file[at] = char(random(256));
        break;
      case 1:
        file.erase(at, random(8));
        break;
      case 2:
        file.insert(at, 1, "0123456789()',{}-L"[random(18)]);
        break;
      case 3:
        file.resize(at);
        break;
      }
      if (file.empty())
        break;
    }
    llvm::Expected<Array> array = readNpy(file, ScalarType::F32);
    if (!array) {
      EXPECT_FALSE(llvm::toString(array.takeError()).empty());
      continue;
    }
    ++accepted;
    EXPECT_LE(array->bytes.size(), file.size());
    EXPECT_EQ(array->bytes.size(), *bytesOf(array->type, array->shape));
  }
  EXPECT_GT(accepted, 10u);
}

TEST(Npy, fourBitElementsInBothForms) {
  // ml_dtypes: one per byte.
  llvm::Expected<Array> one =
      readNpy(npy(dict("'<V1'", "(4,)"), std::string("\x0f\x01\xf8\x07", 4)),
              ScalarType::I4);
  ASSERT_TRUE(bool(one)) << llvm::toString(one.takeError());
  // uint8, last axis halved.
  llvm::Expected<Array> two = readNpy(
      npy(dict("'|u1'", "(2,)"), std::string("\x1f\x78", 2)), ScalarType::I4);
  ASSERT_TRUE(bool(two)) << llvm::toString(two.takeError());
  EXPECT_EQ(one->bytes, two->bytes);
  EXPECT_EQ(one->shape, two->shape);
  EXPECT_EQ(elementAsInteger(*one, 0), -1);
  EXPECT_EQ(elementAsInteger(*one, 2), -8);
  EXPECT_EQ(refusal(npy(dict("'<V1'", "(2,)"), std::string("\x10\x01", 2)),
                    ScalarType::U4),
            "byte 16 at element 0 is no u4");
  EXPECT_EQ(refusal(npy(dict("'<V1'", "(3,)"), "123"), ScalarType::U4),
            "its last axis is 3; u4 needs an even one");
  EXPECT_EQ(refusal(npy(dict("'|u1'", "()"), "1"), ScalarType::U4),
            "a 4-bit array needs an axis");
}

TEST(Npy, writesWhatItReads) {
  for (ScalarType type :
       {ScalarType::Bool, ScalarType::I32, ScalarType::I64, ScalarType::F32,
        ScalarType::F64, ScalarType::F16, ScalarType::BF16, ScalarType::F8E4M3,
        ScalarType::F8E4M3FN, ScalarType::F8E5M2, ScalarType::I16,
        ScalarType::I8, ScalarType::U8, ScalarType::I4, ScalarType::U4}) {
    for (llvm::SmallVector<int64_t, 4> shape :
         {llvm::SmallVector<int64_t, 4>{3, 2},
          llvm::SmallVector<int64_t, 4>{0, 4},
          llvm::SmallVector<int64_t, 4>{2}}) {
      Array array;
      array.type = type;
      array.shape = shape;
      array.bytes.resize(*bytesOf(type, shape));
      for (int64_t i = 0; i < array.count(); ++i)
        setElement(array, i, int64_t(i % 2));
      std::string file = writeNpy(array);
      llvm::Expected<Array> back = readNpy(file, type);
      ASSERT_TRUE(bool(back))
          << spelling(type).str() << ": " << llvm::toString(back.takeError());
      EXPECT_EQ(back->bytes, array.bytes);
      EXPECT_EQ(back->shape, array.shape);
      EXPECT_EQ((file.size() - array.bytes.size()) % 64, 0u);
    }
  }
}

TEST(Array, roundsToNearestEven) {
  Array array;
  array.type = ScalarType::BF16;
  array.shape = {2};
  array.bytes.resize(4);
  setElement(array, 0, 1.00390625); // half way between 1 and 1 + 2⁻⁷: to even
  setElement(array, 1, -std::nextafter(1.00390625, 2.0));
  EXPECT_EQ(elementAsDouble(array, 0), 1.0);
  EXPECT_EQ(elementAsDouble(array, 1), -1.0078125);
}
