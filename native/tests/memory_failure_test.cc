// Lets every allocation fail once: no crash, no leak, a code that says so.
#include <gtest/gtest.h>
#include <stdlib.h>

#include "native/runtime/memory.h"
#include "native/tests/engine_fixture.h"

namespace lathe_test {
namespace {

// Fails the allocation number `fail_at` (from 0) and counts what is alive.
struct FailingAllocator {
  static void* Alloc(void* user, size_t size) {
    auto* self = static_cast<FailingAllocator*>(user);
    if (self->calls++ == self->fail_at) return nullptr;
    ++self->alive;
    void* memory = nullptr;
    return posix_memalign(&memory, 64, size) == 0 ? memory : nullptr;
  }
  static void Free(void* user, void* memory) {
    --static_cast<FailingAllocator*>(user)->alive;
    free(memory);
  }
  lathe_allocator functions() { return {Alloc, Free, this}; }

  int fail_at = -1;
  int calls = 0;
  int alive = 0;
};

TEST(MemoryFailure, WhatNobodyHasIsNotAskedFor) {
  struct Asked {
    static void* Alloc(void* user, size_t size) {
      *static_cast<size_t*>(user) = size;
      return nullptr;
    }
    static void Free(void*, void*) {}
  };
  size_t asked = 0;
  lathe::MemoryArena arena({Asked::Alloc, Asked::Free, &asked});
  EXPECT_FALSE(arena.failed());
  const size_t most = static_cast<size_t>(lathe::kMaxBytes);
  for (const size_t bytes : {most + 1, size_t{SIZE_MAX}}) {
    EXPECT_EQ(arena.Allocate(bytes), nullptr);
    EXPECT_EQ(asked, 0u) << bytes;
    EXPECT_TRUE(arena.failed());
  }
  EXPECT_EQ(arena.Allocate(most), nullptr);
  EXPECT_GT(asked, most);
}

TEST(MemoryFailure, EveryAllocationOfCreateMayFail) {
  for (int fail_at = 0;; ++fail_at) {
    FailingAllocator failing;
    failing.fail_at = fail_at;
    const lathe_allocator allocator = failing.functions();
    {
      ModelBuilder model = ChainModel();
      Loaded loaded(model, LATHE_SESSION_KEEP_ALL, &allocator, 2);
      if (loaded.session != nullptr) {
        ASSERT_GT(fail_at, 3) << "several allocations were expected";
        EXPECT_LE(failing.calls, fail_at);
        loaded.Run({1, 2, 3, 4});
        EXPECT_LE(failing.calls, fail_at) << "a run allocates nothing";
        break;
      }
      EXPECT_EQ(loaded.error.code, LATHE_OUT_OF_MEMORY) << loaded.message();
      EXPECT_NE(loaded.message(), "");
    }
    EXPECT_EQ(failing.alive, 0) << fail_at;
  }
}

TEST(MemoryFailure, EveryAllocationOfResizeMayFail) {
  FailingAllocator failing;
  const lathe_allocator allocator = failing.functions();
  {
    ModelBuilder model = DynamicModel();
    Loaded loaded(model, 0, &allocator, 1);
    ASSERT_TRUE(loaded.session) << loaded.message();
    lathe_shape small = {2, {1, 3}}, large = {2, {8, 3}};
    const int before = failing.calls;
    ASSERT_EQ(loaded.api->resize(loaded.session, 1, &small, &loaded.error), LATHE_OK);
    ASSERT_EQ(loaded.api->resize(loaded.session, 1, &large, &loaded.error), LATHE_OK);
    EXPECT_EQ(failing.calls, before) << "memory of the largest shape is there already";
  }
  EXPECT_EQ(failing.alive, 0);
}

TEST(MemoryFailure, AFailedResizeCanBeMadeGood) {
  ModelBuilder model("unbounded");
  const uint32_t n = model.Symbol("n", 1, INT32_MAX);
  const DimArg rows = model.Expr({Sym(n)});
  const uint32_t x = model.Input(model.Value("x", {rows}));
  const uint32_t y = model.Value("y", {rows});
  model.Node("relu", "r", {x}, {y});
  model.Output(y);
  FailingAllocator failing;
  const lathe_allocator allocator = failing.functions();
  {
    Loaded loaded(model, 0, &allocator, 1);
    ASSERT_TRUE(loaded.session) << loaded.message();
    lathe_shape shape = {1, {1000}};
    const int before = failing.calls;
    failing.fail_at = before;
    EXPECT_EQ(loaded.api->resize(loaded.session, 1, &shape, &loaded.error), LATHE_OUT_OF_MEMORY);
    EXPECT_EQ(loaded.api->run(loaded.session, &loaded.error), LATHE_INVALID_ARGUMENT);
    EXPECT_STREQ(loaded.error.message, "the last resize failed: the session has no memory to run in");
    void* data = nullptr;
    EXPECT_EQ(loaded.api->input_data(loaded.session, 0, &data, nullptr, &loaded.error), LATHE_INVALID_ARGUMENT);
    EXPECT_EQ(loaded.api->resize(loaded.session, 1, &shape, &loaded.error), LATHE_OK);
    EXPECT_EQ(failing.calls, before + 2) << "one allocation per resize";
    EXPECT_EQ(loaded.Run(std::vector<float>(1000, -1)), std::vector<float>(1000, 0));
  }
  EXPECT_EQ(failing.alive, 0);
}

}  // namespace
}  // namespace lathe_test
