// What applications get wrong: each mistake is a code with a message, or ends the program with one.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <string.h>

#include <thread>
#include <vector>

#include "native/runtime/handles.h"
#include "native/runtime/span.h"
#include "native/tests/engine_fixture.h"

namespace lathe_test {
namespace {

// The owner of `loaded` is somebody else from now on.
void GiveAway(Loaded* loaded) {
  loaded->session = nullptr;
  loaded->engine = nullptr;
}

TEST(Misuse, ASessionAfterItsEnd) {
  Loaded loaded(ChainModel());
  ASSERT_TRUE(loaded.session) << loaded.message();
  lathe_session* session = loaded.session;
  loaded.api->session_destroy(session);
  loaded.session = nullptr;
  lathe_error error = {};
  lathe_tensor_info info = {};
  info.struct_size = sizeof(info);
  const lathe_shape shape = {1, {4}};
  void* data = nullptr;
  const void* read = nullptr;
  float own[4] = {};
  const lathe_code codes[] = {
      loaded.api->run(session, &error),
      loaded.api->resize(session, 1, &shape, &error),
      loaded.api->input_info(session, 0, &info, &error),
      loaded.api->output_info(session, 0, &info, &error),
      loaded.api->input_data(session, 0, &data, nullptr, &error),
      loaded.api->output_data(session, 0, &read, nullptr, &error),
      loaded.api->bind_input(session, 0, own, sizeof(own), &error),
      loaded.api->bind_output(session, 0, own, sizeof(own), &error),
      loaded.api->value(session, "x", &info, &read, &error),
      loaded.api->value_at(session, 0, &info, &read, &error),
  };
  for (const lathe_code code : codes) EXPECT_EQ(code, LATHE_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "this session was destroyed, or never created");
  lathe_memory_info memory = {};
  memory.struct_size = sizeof(memory);
  memory.arena = 7;
  loaded.api->memory_info(session, &memory);
  EXPECT_EQ(memory.arena, 0u);
  loaded.api->set_observer(session, nullptr, nullptr);
}

TEST(Misuse, AnEngineAfterItsEnd) {
  Loaded loaded(ChainModel());
  ASSERT_TRUE(loaded.engine) << loaded.message();
  lathe_engine* engine = loaded.engine;
  loaded.api->session_destroy(loaded.session);
  loaded.api->engine_destroy(engine);
  GiveAway(&loaded);
  EXPECT_EQ(loaded.api->input_count(engine), 0u);
  EXPECT_EQ(loaded.api->output_count(engine), 0u);
  EXPECT_EQ(loaded.api->value_count(engine), 0u);
  size_t count = 0;
  EXPECT_EQ(loaded.api->node_numbers(engine, 0, "axis", &count), nullptr);
  lathe_node_info node = {};
  node.struct_size = sizeof(node);
  lathe_device_info device = {};
  device.struct_size = sizeof(device);
  lathe_bytes bytes = {};
  lathe_session* session = nullptr;
  lathe_error error = {};
  EXPECT_EQ(loaded.api->node_at(engine, 0, &node, &error), LATHE_INVALID_ARGUMENT);
  EXPECT_EQ(loaded.api->device_info(engine, &device, &error), LATHE_INVALID_ARGUMENT);
  EXPECT_EQ(loaded.api->device_data(engine, 0, &bytes, &error), LATHE_INVALID_ARGUMENT);
  EXPECT_EQ(loaded.api->session_create(engine, nullptr, &session, &error), LATHE_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "this engine was destroyed, or never created");
  loaded.api->set_thread_observer(engine, nullptr, nullptr);
}

TEST(Misuse, NothingIsNoHandle) {
  const lathe_api* api = lathe_api_test_a();
  lathe_error error = {};
  EXPECT_EQ(api->run(nullptr, &error), LATHE_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "the session is NULL");
  EXPECT_EQ(api->input_count(nullptr), 0u);
  api->session_destroy(nullptr);
  api->engine_destroy(nullptr);
  api->pool_destroy(nullptr);
}

TEST(Misuse, OneKindOfHandleIsNoOther) {
  Loaded loaded(ChainModel());
  ASSERT_TRUE(loaded.session) << loaded.message();
  EXPECT_EQ(loaded.api->run(reinterpret_cast<lathe_session*>(loaded.engine), &loaded.error), LATHE_INVALID_ARGUMENT);
  EXPECT_EQ(loaded.api->input_count(reinterpret_cast<lathe_engine*>(loaded.session)), 0u);
  int something = 0;
  EXPECT_EQ(loaded.api->run(reinterpret_cast<lathe_session*>(&something), nullptr), LATHE_INVALID_ARGUMENT);
}

TEST(Misuse, AnEngineThatIsDestroyedFirstGoesOnForItsSessions) {
  Loaded loaded(ChainModel());
  ASSERT_TRUE(loaded.session) << loaded.message();
  const std::vector<float> before = loaded.Run({1, 2, 3, 4});
  loaded.api->engine_destroy(loaded.engine);
  loaded.engine = nullptr;
  EXPECT_EQ(loaded.Run({1, 2, 3, 4}), before);
}

TEST(Misuse, APoolThatIsDestroyedFirstGoesOnForItsEngines) {
  const lathe_api* api = lathe_api_test_a();
  ModelBuilder builder = ChainModel();
  const std::string model = builder.Model(), data = builder.data();
  lathe_error error = {};
  lathe_pool* pool = nullptr;
  ASSERT_EQ(api->pool_create(3, &pool, &error), LATHE_OK) << error.message;
  lathe_engine_options options = {};
  options.struct_size = sizeof(options);
  options.model = {model.data(), model.size()};
  options.data = {data.data(), data.size()};
  options.pool = pool;
  lathe_engine* engine = nullptr;
  ASSERT_EQ(api->engine_create(&options, &engine, &error), LATHE_OK) << error.message;
  api->pool_destroy(pool);
  lathe_session* session = nullptr;
  ASSERT_EQ(api->session_create(engine, nullptr, &session, &error), LATHE_OK) << error.message;
  EXPECT_EQ(api->run(session, &error), LATHE_OK) << error.message;
  lathe_engine* other = nullptr;
  EXPECT_EQ(api->engine_create(&options, &other, &error), LATHE_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "this pool was destroyed, or never created");
  api->engine_destroy(engine);
  EXPECT_EQ(api->run(session, &error), LATHE_OK) << error.message;
  api->session_destroy(session);
}

TEST(MisuseDeathTest, DestroyingTwice) {
  Loaded loaded(ChainModel());
  ASSERT_TRUE(loaded.session) << loaded.message();
  lathe_session* session = loaded.session;
  lathe_engine* engine = loaded.engine;
  loaded.api->session_destroy(session);
  loaded.api->engine_destroy(engine);
  GiveAway(&loaded);
  EXPECT_DEATH(loaded.api->session_destroy(session), "lathe: destroy: this session was destroyed, or never created");
  EXPECT_DEATH(loaded.api->engine_destroy(engine), "lathe: destroy: this engine was destroyed");
  EXPECT_DEATH(loaded.api->pool_destroy(reinterpret_cast<lathe_pool*>(engine)), "destroy: this pool was");
}

// What stands at each index, one too large by one and by far: refused by every function that takes one.
TEST(Misuse, IndexesOfNothing) {
  Loaded loaded(ChainModel());
  ASSERT_TRUE(loaded.session) << loaded.message();
  const lathe_api* api = loaded.api;
  lathe_error* error = &loaded.error;
  lathe_tensor_info info = {};
  info.struct_size = sizeof(info);
  lathe_node_info node = {};
  node.struct_size = sizeof(node);
  lathe_core_info core = {};
  core.struct_size = sizeof(core);
  void* own = nullptr;
  const void* data = nullptr;
  size_t bytes = 0, values = 0, nodes = 0;
  while (api->value_at(loaded.session, values, &info, &data, error) == LATHE_OK) ++values;
  while (api->node_at(loaded.engine, nodes, &node, error) == LATHE_OK) ++nodes;
  EXPECT_EQ(nodes, 3u);
  const auto refused = [error](lathe_code code, const char* kind, size_t index, size_t count) {
    EXPECT_EQ(code, LATHE_INVALID_ARGUMENT) << kind;
    EXPECT_EQ(std::string(error->message), std::string("there is no ") + kind + " " + std::to_string(index) +
                                               ", the model has " + std::to_string(count));
    error->message[0] = 0;
  };
  for (const size_t far : {size_t{0}, size_t{1} << 16, SIZE_MAX / 2}) {
    const size_t at = 1 + far;
    refused(api->input_info(loaded.session, at, &info, error), "input", at, 1);
    refused(api->output_info(loaded.session, at, &info, error), "output", at, 1);
    refused(api->input_data(loaded.session, at, &own, &bytes, error), "input", at, 1);
    refused(api->output_data(loaded.session, at, &data, &bytes, error), "output", at, 1);
    refused(api->bind_input(loaded.session, at, &info, 16, error), "input", at, 1);
    refused(api->bind_output(loaded.session, at, &info, 16, error), "output", at, 1);
    refused(api->value_at(loaded.session, values + far, &info, &data, error), "value", values + far, values);
    refused(api->node_at(loaded.engine, nodes + far, &node, error), "node", nodes + far, nodes);
    EXPECT_EQ(api->node_numbers(loaded.engine, nodes + far, "shape", &bytes), nullptr);
    EXPECT_EQ(api->core_at(api->core_count() + far, &core, error), LATHE_INVALID_ARGUMENT);
    EXPECT_NE(strstr(error->message, "there is no core"), nullptr) << error->message;
  }
}

TEST(Misuse, AnAllocatorWithoutAlignment) {
  struct Odd {
    static void* Alloc(void* user, size_t size) {
      auto* odd = static_cast<Odd*>(user);
      void* memory = nullptr;
      if (posix_memalign(&memory, 64, size + 64) != 0) return nullptr;
      ++odd->alive;
      odd->is_odd = odd->calls++ >= odd->from;
      return static_cast<char*>(memory) + (odd->is_odd ? 16 : 0);
    }
    static void Free(void* user, void* memory) {
      --static_cast<Odd*>(user)->alive;
      free(reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(memory) & ~uintptr_t{63}));
    }
    int from, calls, alive;
    bool is_odd;
  };
  bool opened = false;
  for (int from = 0; !opened; ++from) {
    Odd odd = {from, 0, 0, false};
    const lathe_allocator allocator = {Odd::Alloc, Odd::Free, &odd};
    {
      Loaded loaded(ChainModel(), 0, &allocator, 2);
      opened = loaded.session != nullptr;
      if (!opened) {
        EXPECT_EQ(loaded.error.code, LATHE_OUT_OF_MEMORY) << loaded.message();
        EXPECT_TRUE(strstr(loaded.error.message, "out of memory") != nullptr) << loaded.message();
        EXPECT_TRUE(from > 0 || strstr(loaded.error.message, "aligned to 64") != nullptr) << loaded.message();
      }
    }
    EXPECT_EQ(odd.alive, 0) << from;
    ASSERT_LT(from, 100);
  }
}

TEST(Handles, GenerationsTellObjectsOfOneEntryApart) {
  using lathe::Kind;
  int one = 0, other = 0;
  void* first = lathe::AddHandle(Kind::kSession, &one);
  EXPECT_EQ(lathe::FindHandle(Kind::kSession, first), &one);
  EXPECT_EQ(lathe::FindHandle(Kind::kEngine, first), nullptr);
  EXPECT_EQ(lathe::TakeHandle(Kind::kEngine, first), nullptr);
  EXPECT_EQ(lathe::TakeHandle(Kind::kSession, first), &one);
  EXPECT_EQ(lathe::TakeHandle(Kind::kSession, first), nullptr);
  // Entries are used in turn: this many later it is that of `first` again.
  void* later = nullptr;
  for (uint32_t i = 0; i < lathe::kMaxHandles; ++i) {
    later = lathe::AddHandle(Kind::kSession, &other);
    ASSERT_NE(later, first);
    EXPECT_EQ(lathe::FindHandle(Kind::kSession, first), nullptr);
    EXPECT_EQ(lathe::TakeHandle(Kind::kSession, later), &other);
  }
  EXPECT_EQ(lathe::TakeHandle(Kind::kSession, first), nullptr);
}

TEST(Handles, AFullTableRefuses) {
  std::vector<void*> handles;
  int object = 0;
  while (void* handle = lathe::AddHandle(lathe::Kind::kPool, &object)) handles.push_back(handle);
  EXPECT_EQ(handles.size(), lathe::kMaxHandles);
  lathe_pool* pool = reinterpret_cast<lathe_pool*>(&object);
  lathe_error error = {};
  EXPECT_EQ(lathe_api_test_a()->pool_create(2, &pool, &error), LATHE_OUT_OF_MEMORY);
  EXPECT_STREQ(error.message, "a library has at most 4095 pools, engines and sessions");
  EXPECT_EQ(pool, nullptr);
  for (void* handle : handles) EXPECT_EQ(lathe::TakeHandle(lathe::Kind::kPool, handle), &object);
}

TEST(Handles, ThreadsThatMakeAndTakeThemDoNotMeet) {
  std::vector<std::thread> threads;
  int wrong = 0;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&wrong] {
      int object = 0;
      for (int turn = 0; turn < 20000; ++turn) {
        void* handle = lathe::AddHandle(lathe::Kind::kSession, &object);
        if (lathe::FindHandle(lathe::Kind::kSession, handle) != &object ||
            lathe::TakeHandle(lathe::Kind::kSession, handle) != &object)
          __atomic_fetch_add(&wrong, 1, __ATOMIC_SEQ_CST);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Handles, OneOfManyThreadsTakesAHandle) {
  for (int turn = 0; turn < 300; ++turn) {
    int object = 0, taken = 0;
    void* handle = lathe::AddHandle(lathe::Kind::kEngine, &object);
    std::vector<std::thread> threads;
    for (int number = 0; number < 3; ++number) {
      threads.emplace_back([&taken, handle] {
        if (lathe::TakeHandle(lathe::Kind::kEngine, handle) != nullptr) __atomic_fetch_add(&taken, 1, __ATOMIC_SEQ_CST);
      });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(taken, 1);
  }
}

#ifdef LATHE_CHECKS_INDEXES
TEST(SpansDeathTest, BuildsUnderAddressSanitizerCheckIndexes) {
  int block[4] = {};  // of which the span is the first half
  const lathe::Span<int> half(block, 2);
  half[1] = 7;
  EXPECT_EQ(block[1], 7);
  EXPECT_DEATH(half[2] = 7, "");
  EXPECT_EQ(half.subspan(2, 0).size(), 0u);
  EXPECT_DEATH(half.subspan(1, 2), "");
}
#endif

}  // namespace
}  // namespace lathe_test
