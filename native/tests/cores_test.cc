#include "native/runtime/cores.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "native/tests/engine_fixture.h"

extern "C" const lathe_api* lathe_api_test_b(void);

namespace lathe_test {
namespace {

using lathe::Binding;
using lathe::Cores;

// A folder such as the system has: a core for each speed.
class Machine {
 public:
  Machine(const std::vector<int>& capacities, const std::vector<int>& frequencies) {
    char folder[] = "/tmp/lathe_cores_XXXXXX";
    EXPECT_NE(mkdtemp(folder), nullptr);
    folder_ = folder;
    const size_t count = std::max(capacities.size(), frequencies.size());
    for (size_t core = 0; core < count; ++core) {
      const std::string own = folder_ + "/cpu" + std::to_string(core);
      mkdir(own.c_str(), 0700);
      mkdir((own + "/cpufreq").c_str(), 0700);
      if (core < capacities.size()) Write(own + "/cpu_capacity", capacities[core]);
      if (core < frequencies.size()) Write(own + "/cpufreq/cpuinfo_max_freq", frequencies[core]);
    }
    lathe::FindCores(folder_.c_str(), static_cast<uint32_t>(count), &cores);
    // The test may run on fewer cores than this machine has.
    for (lathe_core_info& info : cores.info) info.allowed = 1;
  }
  ~Machine() {
    for (const std::string& file : files_) unlink(file.c_str());
    for (uint32_t core = 0; core < cores.count; ++core) {
      const std::string own = folder_ + "/cpu" + std::to_string(core);
      rmdir((own + "/cpufreq").c_str());
      rmdir(own.c_str());
    }
    rmdir(folder_.c_str());
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  std::vector<uint32_t> Kinds() const {
    std::vector<uint32_t> kinds;
    for (uint32_t core = 0; core < cores.count; ++core) kinds.push_back(cores.info[core].kind);
    return kinds;
  }

  // The cores of a run in a mode, with so many threads.
  std::vector<uint32_t> Of(uint32_t power, int threads, uint32_t run = 0) const {
    lathe_cpu_options options = {};
    options.power = power;
    return Of(options, threads, run);
  }
  std::vector<uint32_t> Of(const lathe_cpu_options& options, int threads, uint32_t run) const {
    Binding binding;
    lathe_error error = {};
    EXPECT_EQ(lathe::FindBinding(options, cores, lathe::ErrorSink(&error), &binding), lathe::Code::kOk);
    if (binding.count == 0) return {};
    const lathe::CoreSet set = binding.Select(run, threads);
    std::vector<uint32_t> found;
    for (uint32_t core = 0; core < lathe::kMaxCores; ++core) {
      if (set.Has(core)) found.push_back(core);
    }
    return found;
  }

  Cores cores;

 private:
  void Write(const std::string& path, int number) {
    std::FILE* file = std::fopen(path.c_str(), "w");
    ASSERT_NE(file, nullptr);
    std::fprintf(file, "%d\n", number);
    std::fclose(file);
    files_.push_back(path);
  }
  std::string folder_;
  std::vector<std::string> files_;
};

using Numbers = std::vector<uint32_t>;
constexpr uint32_t kAlike = LATHE_CORE_ALIKE, kBig = LATHE_CORE_BIG, kLittle = LATHE_CORE_LITTLE;

TEST(Cores, OfThreeClustersTheFasterTwoAreBig) {
  const Machine machine({250, 250, 250, 250, 800, 800, 800, 1024}, {});
  EXPECT_EQ(machine.Kinds(), (Numbers{kLittle, kLittle, kLittle, kLittle, kBig, kBig, kBig, kBig}));
  EXPECT_EQ(machine.Of(LATHE_POWER_NO_BIND, 4), Numbers{});
  EXPECT_EQ(machine.Of(LATHE_POWER_HIGH, 2), (Numbers{4, 5, 6, 7}));
  EXPECT_EQ(machine.Of(LATHE_POWER_LOW, 2), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(machine.Of(LATHE_POWER_FULL, 1), (Numbers{7}));
  EXPECT_EQ(machine.Of(LATHE_POWER_FULL, 5), (Numbers{0, 4, 5, 6, 7}));
  EXPECT_EQ(machine.Of(LATHE_POWER_FULL, 100), (Numbers{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(Cores, TurnsGoRoundAfterTenRuns) {
  const Machine machine({}, {1800000, 1800000, 2400000, 2400000, 2400000});
  EXPECT_EQ(machine.Kinds(), (Numbers{kLittle, kLittle, kBig, kBig, kBig}));
  for (const uint32_t run : {0u, 9u}) EXPECT_EQ(machine.Of(LATHE_POWER_RAND_HIGH, 1, run), Numbers{2});
  EXPECT_EQ(machine.Of(LATHE_POWER_RAND_HIGH, 1, 10), Numbers{3});
  EXPECT_EQ(machine.Of(LATHE_POWER_RAND_HIGH, 2, 20), (Numbers{2, 4}));
  EXPECT_EQ(machine.Of(LATHE_POWER_RAND_HIGH, 1, 30), Numbers{2});
  EXPECT_EQ(machine.Of(LATHE_POWER_RAND_LOW, 1, 10), Numbers{1});
}

TEST(Cores, AlikeCoresAreNotBound) {
  for (const Machine* machine : {new Machine({1024, 1024}, {}), new Machine({}, {5200000, 5300000, 5200000}),
                                 new Machine({0, 0}, {}), new Machine({1024}, {2000000, 1000000})}) {
    const bool differ = machine->cores.count == 2 && machine->cores.info[1].max_khz == 1000000;
    EXPECT_EQ(machine->Kinds()[0], differ ? kBig : kAlike);
    if (!differ) {
      EXPECT_EQ(machine->Of(LATHE_POWER_HIGH, 1), Numbers{});
      EXPECT_EQ(machine->Of(LATHE_POWER_LOW, 1), Numbers{});
      EXPECT_EQ(machine->Of(LATHE_POWER_RAND_LOW, 1), Numbers{});
    }
    delete machine;
  }
}

TEST(Cores, CapacityGoesBeforeFrequency) {
  const Machine machine({250, 1024, 1024}, {3000000, 1000000, 2000000});
  EXPECT_EQ(machine.Kinds(), (Numbers{kLittle, kBig, kBig}));
  EXPECT_EQ(machine.Of(LATHE_POWER_FULL, 1), Numbers{1});
  const Machine alike({1000, 1000, 1000}, {3000000, 1000000, 2000000});  // then the frequency decides
  EXPECT_EQ(alike.Kinds(), (Numbers{kBig, kLittle, kBig}));
}

TEST(Cores, KindsBeginInTheMiddle) {
  EXPECT_EQ(Machine({900, 1000}, {}).Kinds(), (Numbers{kAlike, kAlike}));
  EXPECT_EQ(Machine({899, 1000}, {}).Kinds(), (Numbers{kLittle, kBig}));
  EXPECT_EQ(Machine({200, 599, 600, 1000}, {}).Kinds(), (Numbers{kLittle, kLittle, kBig, kBig}));
  EXPECT_EQ(Machine({200, 300, 600, 500, 1000}, {}).Of(LATHE_POWER_FULL, 3), (Numbers{2, 3, 4}));
}

TEST(Cores, AListIsTakenAsItIs) {
  const Machine machine({250, 1024, 250}, {});
  const uint32_t list[] = {2, 0};
  lathe_cpu_options options = {sizeof(options), LATHE_POWER_HIGH, 2, list};
  EXPECT_EQ(machine.Of(options, 1, 0), (Numbers{0, 2}));
}

lathe_error Refused(const lathe_cpu_options& options) {
  const Machine machine({250, 1024}, {});
  Binding binding;
  lathe_error error = {};
  EXPECT_EQ(lathe::FindBinding(options, machine.cores, lathe::ErrorSink(&error), &binding),
            lathe::Code::kInvalidArgument);
  return error;
}

TEST(Cores, WhatDoesNotExistIsAnError) {
  const uint32_t list[] = {0, 2};
  EXPECT_STREQ(Refused({0, 0, 2, list}).message, "cpu options: this process cannot run on core 2 (of 2)");
  EXPECT_STREQ(Refused({0, 0, 1, nullptr}).message, "cpu options: a list of 1 to 256 cores is needed");
  EXPECT_STREQ(Refused({0, 6, 0, nullptr}).message, "cpu options: there is no power mode 6");
}

// Everything below runs on this machine's own cores.

ModelBuilder LongRelu() {
  ModelBuilder model("long");
  const uint32_t x = model.Input(model.Value("x", {1 << 20}));
  const uint32_t y = model.Value("y", {1 << 20});
  model.Node("relu", "relu", {x}, {y});
  model.Output(y);
  return model;
}

std::vector<uint32_t> Allowed() {
  std::vector<uint32_t> found;
  lathe::CoreSet set;
  EXPECT_TRUE(lathe::CoresOfThread(&set));
  for (uint32_t core = 0; core < lathe::kMaxCores; ++core) {
    if (set.Has(core)) found.push_back(core);
  }
  return found;
}

struct Seen {
  std::atomic<uint64_t> cores{0};  // bits of those that threads were seen on
  std::atomic<uint64_t> threads{0};
};

void See(void* user, const lathe_thread_event* event) {
  auto* seen = static_cast<Seen*>(user);
  seen->cores |= uint64_t{1} << (sched_getcpu() % 64);
  seen->threads |= uint64_t{1} << event->thread;
}

TEST(BoundEngine, AllThreadsStayOnTheCoreAndTheCallerGetsItsOwnBack) {
  const lathe_api* api = lathe_api_test_a();
  const std::vector<uint32_t> allowed = Allowed();
  const ModelBuilder model = LongRelu();
  const std::string graph = model.Model(), data = model.data();
  for (const uint32_t core : {allowed.front(), allowed.back()}) {
    lathe_cpu_options cpu = {sizeof(cpu), 0, 0, nullptr};
    lathe_engine_options options = {};
    options.struct_size = sizeof(options);
    options.num_threads = 3;
    options.model = {graph.data(), graph.size()};
    options.data = {data.data(), data.size()};
    options.cpu = &cpu;
    lathe_engine* engine = nullptr;
    lathe_session* session = nullptr;
    lathe_error error = {};
    ASSERT_EQ(api->engine_create(&options, &engine, &error), LATHE_OK) << error.message;
    ASSERT_EQ(api->session_create(engine, nullptr, &session, &error), LATHE_OK) << error.message;
    EXPECT_EQ(api->engine_cores(engine, nullptr, 0), 0u);
    cpu.core_count = 1;
    cpu.cores = &core;
    ASSERT_EQ(api->engine_bind(engine, &cpu, &error), LATHE_OK) << error.message;
    uint32_t now = UINT32_MAX;
    EXPECT_EQ(api->engine_cores(engine, &now, 1), 1u);
    EXPECT_EQ(now, core);
    Seen seen;
    api->set_thread_observer(engine, See, &seen);
    for (int run = 0; run < 20; ++run) ASSERT_EQ(api->run(session, &error), LATHE_OK) << error.message;
    api->set_thread_observer(engine, nullptr, nullptr);
    EXPECT_EQ(seen.cores.load(), uint64_t{1} << (core % 64));
    EXPECT_NE(seen.threads.load(), 0u);
    EXPECT_EQ(Allowed(), allowed);
    const lathe_cpu_options free = {sizeof(free), 0, 0, nullptr};
    ASSERT_EQ(api->engine_bind(engine, &free, &error), LATHE_OK) << error.message;
    EXPECT_EQ(api->engine_cores(engine, nullptr, 0), 0u);
    api->session_destroy(session);
    api->engine_destroy(engine);
  }
}

TEST(BoundEngine, CoresAreDescribed) {
  const lathe_api* api = lathe_api_test_a();
  ASSERT_GE(api->core_count(), Allowed().size());
  lathe_error error = {};
  size_t allowed = 0;
  for (size_t index = 0; index < api->core_count(); ++index) {
    lathe_core_info info = {};
    info.struct_size = sizeof(info);
    ASSERT_EQ(api->core_at(index, &info, &error), LATHE_OK) << error.message;
    EXPECT_EQ(info.core, index);
    allowed += info.allowed;
  }
  EXPECT_EQ(allowed, Allowed().size());
  lathe_core_info info = {};
  info.struct_size = sizeof(info);
  EXPECT_EQ(api->core_at(api->core_count(), &info, &error), LATHE_INVALID_ARGUMENT);
}

// test_b stands for libraries that were built without it.
TEST(BoundEngine, LibrariesWithoutBindingSaySo) {
  const lathe_api* api = lathe_api_test_b();
  EXPECT_EQ(api->core_count(), 0u);
  lathe_core_info info = {};
  info.struct_size = sizeof(info);
  lathe_error error = {};
  EXPECT_EQ(api->core_at(0, &info, &error), LATHE_UNSUPPORTED);
  EXPECT_STREQ(error.message, "library 'test_b' cannot bind threads to cores: build it with core_binding: 1");
}

}  // namespace
}  // namespace lathe_test
