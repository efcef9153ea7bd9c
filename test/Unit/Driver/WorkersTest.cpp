//===- WorkersTest.cpp - threads that wait for the next phase -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../../../lib/Driver/Workers.h"

#include "gtest/gtest.h"

using namespace facet;

TEST(Workers, RunEveryTaskOnceInEachOfManyPhases) {
  for (unsigned threads : {1u, 2u, 3u, 8u}) {
    Workers workers(threads);
    facet_exec exec = workers.exec();
    EXPECT_EQ(exec.threads, int32_t(threads));
    for (int64_t n = 0; n < 200; ++n) {
      std::vector<std::atomic<int>> runs(n);
      auto task = [](void *data, int64_t i) {
        ++(*static_cast<std::vector<std::atomic<int>> *>(data))[i];
        return 0;
      };
      ASSERT_EQ(exec.parallel_for(exec.ctx, n, task, &runs), 0);
      for (std::atomic<int> &count : runs)
        ASSERT_EQ(count, 1);
    }
  }
}

TEST(Workers, TellWhatAFailingTaskReturned) {
  Workers workers(3);
  facet_exec exec = workers.exec();
  auto fail = [](void *, int64_t i) { return i == 7 ? -18 : 0; };
  EXPECT_EQ(exec.parallel_for(exec.ctx, 100, fail, nullptr), -18);
  auto pass = [](void *, int64_t) { return 0; };
  EXPECT_EQ(exec.parallel_for(exec.ctx, 100, pass, nullptr), 0);
}
