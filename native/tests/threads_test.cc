#include "native/runtime/threads.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "native/tests/engine_fixture.h"

namespace lathe_test {
namespace {

using lathe::ThreadPool;

struct Pool {
  explicit Pool(int threads) {
    lathe_error error = {};
    const lathe::Code code = ThreadPool::Create(threads, lathe::DefaultAllocator(), lathe::ErrorSink(&error), &pool);
    EXPECT_EQ(code, lathe::Code::kOk) << error.message;
  }
  ~Pool() { ThreadPool::Release(pool); }
  ThreadPool* pool = nullptr;
};

template <typename F>
void Parallel(ThreadPool* pool, int64_t count, int64_t grain, const F& f) {
  lathe::RunContext context = {};
  context.pool = pool;
  context.For(count, grain, f);
}

TEST(ThreadPool, CoversEveryItemOnceWhateverTheNumberOfThreads) {
  for (const int threads : {1, 2, 3, 8}) {
    Pool pool(threads);
    ASSERT_EQ(pool.pool->threads(), threads);
    for (const int64_t count : {0, 1, 5, 63, 64, 65, 1000, 4099}) {
      for (const int64_t grain : {0, 1, 7, 100000}) {
        std::vector<std::atomic<int>> seen(static_cast<size_t>(count));
        std::atomic<int64_t> slices{0};
        Parallel(pool.pool, count, grain, [&](int64_t begin, int64_t end, int thread) {
          EXPECT_LT(begin, end);
          EXPECT_GE(thread, 0);
          EXPECT_LT(thread, threads);
          EXPECT_TRUE(count < grain || end - begin >= grain);
          ++slices;
          for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i)];
        });
        for (const std::atomic<int>& times : seen) ASSERT_EQ(times, 1);
        EXPECT_EQ(slices, count == 0 ? 0 : lathe::SliceCount(count, grain));
      }
    }
  }
}

TEST(ThreadPool, ManyShortJobs) {
  Pool pool(4);
  int64_t total = 0;
  for (int job = 0; job < 3000; ++job) {
    std::atomic<int64_t> sum{0};
    Parallel(pool.pool, 40, 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) sum += i;
    });
    total += sum;
    if (job % 500 == 0) usleep(2000);  // the workers fall asleep in between
  }
  EXPECT_EQ(total, 3000 * (39 * 40 / 2));
}

TEST(ThreadPool, SharedByThreadsAndNested) {
  Pool pool(3);
  std::vector<std::thread> threads;
  std::atomic<int64_t> sum{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int job = 0; job < 200; ++job) {
        Parallel(pool.pool, 8, 1, [&](int64_t begin, int64_t end, int) {
          Parallel(pool.pool, end - begin, 1, [&](int64_t b, int64_t e, int) { sum += e - b; });
        });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sum, 4 * 200 * 8);
}

TEST(ThreadPool, AnObserverLearnsWhichThreadRanHowManySlices) {
  constexpr int kThreads = 4;
  struct Seen {
    std::vector<lathe_thread_event> events[kThreads];  // each thread writes its own
  } seen;
  Pool pool(kThreads);
  pool.pool->SetObserver(
      [](void* user, const lathe_thread_event* event) {
        static_cast<Seen*>(user)->events[event->thread].push_back(*event);
      },
      &seen);
  std::atomic<uint32_t> slices{0};
  for (int job = 0; job < 100; ++job) Parallel(pool.pool, 40, 1, [&](int64_t, int64_t, int) { ++slices; });
  Parallel(pool.pool, 1, 1, [](int64_t, int64_t, int) {});  // one slice: nothing is shared
  pool.pool->SetObserver(nullptr, nullptr);
  Parallel(pool.pool, 40, 1, [](int64_t, int64_t, int) {});
  uint32_t told = 0;
  for (const auto& events : seen.events) {
    EXPECT_LE(events.size(), 100u);
    int64_t last = 0;
    for (const lathe_thread_event& event : events) {
      EXPECT_EQ(event.struct_size, sizeof(event));
      EXPECT_GT(event.slices, 0u);
      EXPECT_LE(last, event.start_ns);
      EXPECT_LE(event.start_ns, event.end_ns);
      last = event.end_ns;
      told += event.slices;
    }
  }
  EXPECT_EQ(told, slices);
}

TEST(ThreadPool, ComesAndGoes) {
  for (int i = 0; i < 50; ++i) Pool pool(1 + i % 4);
  EXPECT_GE(Pool(0).pool->threads(), 1);
  lathe_error error = {};
  ThreadPool* pool = nullptr;
  EXPECT_EQ(ThreadPool::Create(-1, lathe::DefaultAllocator(), lathe::ErrorSink(&error), &pool),
            lathe::Code::kInvalidArgument);
}

TEST(ThreadPool, WorksAloneAfterAFork) {
  Pool* pool = new Pool(4);
  Parallel(pool->pool, 100, 1, [](int64_t, int64_t, int) {});
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    int64_t sum = 0;  // no race: everything runs here
    Parallel(pool->pool, 100, 1, [&](int64_t begin, int64_t end, int) { sum += end - begin; });
    delete pool;
    _exit(sum == 100 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  delete pool;
}

TEST(Sessions, RunInSeveralThreadsOfOneEngine) {
  ModelBuilder model("wide");
  const uint32_t x = model.Input(model.Value("x", {5000}));
  const uint32_t y = model.Value("y", {5000});
  model.Node("relu", "r", {x}, {y});
  model.Output(y);
  Loaded loaded(model, 0, nullptr, 3);
  ASSERT_TRUE(loaded.session) << loaded.message();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      lathe_session* session = nullptr;
      ASSERT_EQ(loaded.api->session_create(loaded.engine, nullptr, &session, nullptr), LATHE_OK);
      void* input = nullptr;
      const void* output = nullptr;
      ASSERT_EQ(loaded.api->input_data(session, 0, &input, nullptr, nullptr), LATHE_OK);
      for (int64_t j = 0; j < 5000; ++j) static_cast<float*>(input)[j] = static_cast<float>(j % 2 ? i : -i);
      for (int run = 0; run < 50; ++run) ASSERT_EQ(loaded.api->run(session, nullptr), LATHE_OK);
      ASSERT_EQ(loaded.api->output_data(session, 0, &output, nullptr, nullptr), LATHE_OK);
      for (int64_t j = 0; j < 5000; ++j)
        ASSERT_EQ(static_cast<const float*>(output)[j], static_cast<float>(j % 2 ? i : 0));
      loaded.api->session_destroy(session);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace lathe_test
