// Which kernel runs where several could: by what the machine has, by what the caller leaves out, by what `prepare`
// says.
#include <gtest/gtest.h>
#include <stddef.h>
#include <stdlib.h>

#include <fstream>
#include <iterator>

#include "native/runtime/cpu.h"
#include "native/tests/engine_fixture.h"

namespace lathe_test {
namespace {

// Of operator `level`, whose kernels write the place of their instruction set in this list, counted from 1.
const std::vector<std::string> kWords = {"vnni", "avx512", "avx2",   "i8mm", "dotprod",
                                         "fp16", "neon",   "neonv7", "rvv",  "portable"};

std::string KernelOf(const std::string& word) { return "level_f32_test__" + word; }

ModelBuilder LevelModel(const std::vector<std::string>& kernels) {
  ModelBuilder model("level");
  const uint32_t x = model.Input(model.Value("x", {1}));
  const uint32_t y = model.Value("y", {1});
  model.Node("level", "l", {x}, {y});
  model.Output(y);
  if (kernels.empty()) return model;
  model.Kernels(kernels);
  model.Place(x, 0, 4);
  model.Place(y, 64, 4);
  model.arena_size = 128;
  return model;
}

// The word of the kernel that ran.
std::string WordOf(const ModelBuilder& model, const char* limit = nullptr) {
  Loaded loaded(model, 0, nullptr, 1, limit);
  if (loaded.session == nullptr) return loaded.message();
  return kWords[static_cast<size_t>(loaded.Run({0})[0]) - 1];
}

std::string Best() {
  for (const std::string& word : kWords) {
    if (lathe::CpuRuns(word.c_str())) return word;
  }
  return "";
}

std::vector<std::string> AllKernels() {
  std::vector<std::string> kernels;
  for (const std::string& word : kWords) kernels.push_back(KernelOf(word));
  return kernels;
}

TEST(Isa, IsTheLastWordOfAName) {
  EXPECT_STREQ(lathe::IsaOf("conv2d_f32_tile__portable"), "portable");
  EXPECT_STREQ(lathe::IsaOf("name"), "name");
  EXPECT_TRUE(lathe::CpuRuns("portable"));
  EXPECT_FALSE(lathe::CpuRuns("sse9"));
  EXPECT_FALSE(lathe::CpuRuns(""));
  EXPECT_EQ(lathe::IsaBit("sse9"), 0u);
}

// The operating system's own account of this machine.
TEST(Isa, AgreesWithTheOperatingSystem) {
#if defined(__x86_64__)
  std::ifstream file("/proc/cpuinfo");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto has = [&](const char* flag) { return text.find(std::string(" ") + flag + " ") != std::string::npos; };
  if (!has("fpu")) GTEST_SKIP() << "/proc/cpuinfo has no flags";
  const bool avx2 = has("avx2") && has("fma") && has("f16c");
  EXPECT_EQ(lathe::CpuRuns("avx2"), avx2);
  EXPECT_EQ(lathe::CpuRuns("vnni"), lathe::CpuRuns("avx512") && has("avx512_vnni"));
  EXPECT_EQ(lathe::CpuRuns("avx512"), avx2 && has("avx512f") && has("avx512vl") && has("avx512bw") && has("avx512dq"));
#else
  EXPECT_FALSE(lathe::CpuRuns("avx2"));
#endif
  // What an emulator was told to be, where somebody knows.
  const char* expected = getenv("LATHE_EXPECT_BEST_ISA");
  EXPECT_EQ(Best(), expected != nullptr ? expected : Best());
}

TEST(Isa, TheBestThatTheMachineHasRuns) {
  EXPECT_EQ(WordOf(LevelModel({})), Best());
  EXPECT_EQ(WordOf(LevelModel(AllKernels())), Best());
}

TEST(Isa, TheCallerLeavesOutBetterOnes) {
  for (const std::string& word : kWords) {
    if (!lathe::CpuRuns(word.c_str())) continue;
    EXPECT_EQ(WordOf(LevelModel({}), word.c_str()), word);
    EXPECT_EQ(WordOf(LevelModel(AllKernels()), word.c_str()), word);
  }
  Loaded loaded(LevelModel({}), 0, nullptr, 1, "sse9");
  EXPECT_EQ(loaded.error.code, LATHE_INVALID_ARGUMENT);
  EXPECT_EQ(loaded.message(), "isa_limit: 'sse9' is no instruction set of this architecture");
}

TEST(Isa, AnOlderCallerKnowsNoLimit) {
  const ModelBuilder model = LevelModel({});
  const std::string bytes = model.Model();
  lathe_engine_options options = {};
  options.struct_size = offsetof(lathe_engine_options, isa_limit);
  options.model = {bytes.data(), bytes.size()};
  options.data = {model.data().data(), 0};
  options.isa_limit = "sse9";
  lathe_engine* engine = nullptr;
  lathe_error error = {};
  EXPECT_EQ(lathe_api_test_a()->engine_create(&options, &engine, &error), LATHE_OK) << error.message;
  lathe_api_test_a()->engine_destroy(engine);
}

TEST(Isa, APlanWithoutOneForTheMachineIsRefused) {
  Loaded unknown(LevelModel({"level_f32_test__sse9"}));
  EXPECT_EQ(unknown.error.code, LATHE_UNSUPPORTED);
  EXPECT_NE(unknown.message().find("'level_f32_test__sse9': this machine lacks the instruction set 'sse9'"),
            std::string::npos)
      << unknown.message();
  // One that the library lacks does not hide one that it holds.
  EXPECT_EQ(WordOf(LevelModel({"level_f32_lost__portable", "level_f32_test__portable"})), "portable");
}

TEST(Isa, TheNextOfTheListRunsWhatTheFirstDoesNot) {
  for (const int mode : {1, 2, 9}) {
    ModelBuilder model = PickModel(mode);
    model.Kernels({"pick_f32_first__portable", "pick_f32_second__portable"});
    model.Place(0, 0, 4);
    model.Place(1, 64, 4);
    model.arena_size = 128;
    Loaded loaded(model);
    if (mode == 9) {
      EXPECT_EQ(loaded.error.code, LATHE_UNSUPPORTED);
      EXPECT_NE(loaded.message().find("mode 9"), std::string::npos) << loaded.message();
      continue;
    }
    ASSERT_NE(loaded.session, nullptr) << loaded.message();
    EXPECT_EQ(loaded.Run({0})[0], static_cast<float>(mode));
  }
}

}  // namespace
}  // namespace lathe_test
