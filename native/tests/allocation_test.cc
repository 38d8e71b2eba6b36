// Counts what malloc and its kin are asked for while a session runs. These definitions go before libc's.
#include <errno.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>

#include "native/tests/engine_fixture.h"

extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* memory, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
}

namespace {

std::atomic<int> allocations{0};

}  // namespace

extern "C" {
void* malloc(size_t size) { return ++allocations, __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return ++allocations, __libc_calloc(count, size); }
void* realloc(void* memory, size_t size) { return ++allocations, __libc_realloc(memory, size); }
void* aligned_alloc(size_t alignment, size_t size) { return ++allocations, __libc_memalign(alignment, size); }
int posix_memalign(void** memory, size_t alignment, size_t size) {
  ++allocations;
  *memory = __libc_memalign(alignment, size);
  return *memory != nullptr ? 0 : ENOMEM;
}
}

namespace lathe_test {
namespace {

TEST(Allocations, NoneInRun) {
  ModelBuilder model("wide");
  const uint32_t x = model.Input(model.Value("x", {100000}));
  const uint32_t w = model.Floats("w", {1}, {3});
  const uint32_t r = model.Value("r", {100000});
  const uint32_t y = model.Value("y", {100000});
  model.Node("relu", "r", {x}, {r});
  model.Node("scale", "s", {r, w}, {y}, {FloatAttr("factor", 2)});
  model.Output(y);
  const int before = allocations;
  Loaded loaded(model, 0, nullptr, 4);
  ASSERT_TRUE(loaded.session) << loaded.message();
  EXPECT_GT(allocations, before) << "the counter works";
  std::vector<float> mine(100001);
  lathe_code code = LATHE_OK;
  const int start = allocations;
  for (int run = 0; run < 100; ++run) code |= loaded.api->run(loaded.session, &loaded.error);
  code |= loaded.api->bind_output(loaded.session, 0, mine.data() + 1, 400000, &loaded.error);
  code |= loaded.api->run(loaded.session, &loaded.error);
  EXPECT_EQ(allocations, start);
  EXPECT_EQ(code, LATHE_OK);
}

TEST(Allocations, NoneInLoops) {
  Loaded loaded(LoopModel(50));
  ASSERT_TRUE(loaded.session) << loaded.message();
  lathe_code code = LATHE_OK;
  const int start = allocations;
  for (int64_t trips = 0; trips < 60; ++trips) {
    loaded.Write(1, &trips, sizeof(trips));
    code |= loaded.api->run(loaded.session, &loaded.error);
  }
  EXPECT_EQ(allocations, start);
  EXPECT_EQ(code, LATHE_OK);
}

}  // namespace
}  // namespace lathe_test
