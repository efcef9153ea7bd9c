//===- OriginTest.cpp - which instructions made a byte --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "facet/Sim/Origin.h"
#include "facet/Isa/Assembler.h"

#include "gtest/gtest.h"

using namespace facet;

namespace {

/// Two rows of x are loaded in a loop, one slot each; a product of them with themselves,
/// doubled, becomes the first row of y, and the second row of x the second.
constexpr const char *text = R"(
.machine "trn2"
.buffer x in hbm.f32[2, 8] at 0 bytes 64
.buffer y out hbm.f32[2, 8] at 256 bytes 64
.semaphore loaded
.semaphore summed
.semaphore doubled
.queue sync
loop trips=2
dma_copy dst=sbuf.f32[0:1, 32*i0, 8], src=hbm.f32[x, 1, 32*i0, 8], update(loaded += 1)
end
dma_copy dst=hbm.f32[y, 1, 0, 8], src=sbuf.f32[0:1, 64, 8], wait(doubled >= 1)
dma_copy dst=hbm.f32[y, 1, 32, 8], src=sbuf.f32[0:1, 32, 8]
.queue tensor
load_weights weights=sbuf.f32[0:1, 0, 8], wait(loaded >= 32)
matmul dst=psum.f32[0:8, 0, 8], moving=sbuf.f32[0:1, 0, 8], start, stop, update(summed += 1)
.queue vector
tensor_tensor op=add, dst=sbuf.f32[0:1, 64, 8], a=psum.f32[0:1, 0, 8], b=psum.f32[0:1, 0, 8], wait(summed >= 1), update(doubled += 1)
)";

std::string namesOf(const Program &program, unsigned buffer, int64_t byte) {
  std::string names;
  for (const sim::OriginStep &step : sim::originOf(program, buffer, byte)) {
    const Queue &queue = program.queues[size_t(step.queue)];
    names += std::string(engineName(queue.engine)) + std::to_string(step.pc) +
             (step.when.empty() ? "" : "(" + step.when + ")") + " ";
  }
  return names;
}

TEST(Origin, follows_a_byte_back_to_the_loads) {
  Diagnostics diags;
  std::optional<Program> program = assemble(text, "t", diags);
  ASSERT_TRUE(program) << (diags.all().empty() ? "" : diags.all()[0].message);
  // The first row: through psum and the weights, from the first row of x alone.
  EXPECT_EQ(namesOf(*program, 1, 31),
            "sync3 vector0 tensor1 tensor0 sync1(i0 = 0) ");
  // The second: no arithmetic.
  EXPECT_EQ(namesOf(*program, 1, 32), "sync4 sync1(i0 = 1) ");
  // What is given was made by nobody.
  EXPECT_EQ(namesOf(*program, 0, 0), "");
}

TEST(Origin, names_the_instruction_and_its_place) {
  Diagnostics diags;
  std::string placed = text;
  placed.insert(placed.rfind(", wait(summed"), ", loc(\"k.facet\":3:9, \"y\")");
  std::optional<Program> program = assemble(placed, "t", diags);
  ASSERT_TRUE(program) << (diags.all().empty() ? "" : diags.all()[0].message);
  std::vector<sim::OriginStep> steps = sim::originOf(*program, 1, 0);
  ASSERT_EQ(steps.size(), 5u);
  std::vector<std::string> lines = sim::describeOrigin(*program, steps[1]);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0], "queue vector, instruction 0 (tensor_tensor)");
  EXPECT_EQ(lines[2], "k.facet:3:9, 'y'");
}

} // namespace
