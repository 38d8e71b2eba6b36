// Models of one node whose attributes, shapes and types do not fit together: every kernel answers with a code. What it
// accepts, it must be able to run; the sanitizers watch.
#include <gtest/gtest.h>
#include <stdlib.h>

#include "native/runtime/cpu.h"
#include "native/tests/op_cases_file.h"

extern "C" const lathe_api* lathe_api_lathe_full(void);

namespace lathe_test {
namespace {

constexpr size_t kLargest = size_t{1} << 22;  // larger requests get no memory

void* AllocateSome(void*, size_t size) {
  void* memory = nullptr;
  if (size > kLargest || posix_memalign(&memory, 64, size + 1) != 0) return nullptr;
  memset(memory, 0x3f, size);  // floats of about 0.75, integers far outside of any axis
  return memory;
}

void Free(void*, void* pointer) { free(pointer); }

struct Outcome {
  int refused = 0;
  int without_memory = 0;
  int ran = 0;
};

// A session of a model, as far as one can be had.
struct Opened {
  // `isa_limit`: so that kernels meet the models which a better instruction set takes elsewhere.
  Opened(const HostileModel& item, const char* isa_limit) {
    const lathe_allocator allocator = {AllocateSome, Free, nullptr};
    data = AllocateSome(nullptr, item.data.size());
    if (data == nullptr) return;
    memcpy(data, item.data.data(), item.data.size());
    lathe_engine_options options = {};
    options.struct_size = sizeof(options);
    options.num_threads = 1;
    options.model = {item.model.data(), item.model.size()};
    options.data = {data, item.data.size()};
    options.allocator = &allocator;
    options.isa_limit = isa_limit;
    code = api->engine_create(&options, &engine, &error);
    if (code == LATHE_OK) code = api->session_create(engine, nullptr, &session, &error);
  }
  ~Opened() {
    if (session != nullptr) api->session_destroy(session);
    if (engine != nullptr) api->engine_destroy(engine);
    free(data);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  const lathe_api* api = lathe_api_lathe_full();
  void* data = nullptr;
  lathe_engine* engine = nullptr;
  lathe_session* session = nullptr;
  lathe_error error = {};
  lathe_code code = LATHE_INTERNAL;
};

void Try(const HostileModel& item, const char* isa_limit, Outcome* outcome) {
  Opened opened(item, isa_limit);
  ASSERT_NE(opened.data, nullptr);
  if (opened.code == LATHE_OK) {
    opened.code = opened.api->run(opened.session, &opened.error);
    ++outcome->ran;
  } else if (opened.code == LATHE_OUT_OF_MEMORY) {
    ++outcome->without_memory;
  } else {
    ++outcome->refused;
  }
  if (opened.code != LATHE_OK) {
    EXPECT_NE(opened.error.message[0], 0);
    EXPECT_NE(opened.code, LATHE_INTERNAL) << opened.error.message;
  }
}

class Hostile : public testing::TestWithParam<std::string> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Hostile);

TEST_P(Hostile, GivesACode) {
  std::vector<HostileModel> models;
  ASSERT_TRUE(ReadHostile(CasePath(GetParam(), ".hostile"), &models));
  Outcome outcome;
  for (size_t i = 0; i < models.size(); ++i) {
    SCOPED_TRACE("model " + std::to_string(i));
    for (const char* word :
         {"vnni", "avx512", "avx2", "i8mm", "dotprod", "fp16", "neon", "neonv7", "rvv", "portable"}) {
      if (lathe::CpuRuns(word)) Try(models[i], word, &outcome);
    }
  }
  RecordProperty("refused", outcome.refused);
  RecordProperty("without_memory", outcome.without_memory);
  RecordProperty("ran", outcome.ran);
  // A generator whose models all stop at one door tests nothing behind it.
  EXPECT_GT(outcome.refused, 0);
  EXPECT_GT(outcome.ran, 0);
}

INSTANTIATE_TEST_SUITE_P(Files, Hostile, testing::ValuesIn(CaseNames(".hostile")),
                         [](const testing::TestParamInfo<std::string>& info) { return info.param; });

// Models with an operand more or less than their operator has, or with an input longer than the others allow. Those
// that are planned for one kernel meet it whichever others there are.
class Refused : public testing::TestWithParam<std::string> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Refused);

TEST_P(Refused, IsNotTaken) {
  std::vector<HostileModel> models;
  ASSERT_TRUE(ReadHostile(CasePath(GetParam(), ".refused"), &models));
  const bool planned = GetParam().find("__planned") != std::string::npos;
  for (size_t i = 0; i < models.size(); ++i) {
    SCOPED_TRACE("model " + std::to_string(i));
    for (const char* word :
         {"vnni", "avx512", "avx2", "i8mm", "dotprod", "fp16", "neon", "neonv7", "rvv", "portable"}) {
      if (planned ? GetParam().find(std::string("__") + word) == std::string::npos : !lathe::CpuRuns(word)) continue;
      Outcome outcome;
      Try(models[i], planned ? nullptr : word, &outcome);
      EXPECT_EQ(outcome.refused, 1) << word;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Refused, testing::ValuesIn(CaseNames(".refused")),
                         [](const testing::TestParamInfo<std::string>& info) { return info.param; });

// Models planned for one kernel, with a dimension that is as long as the others need at first, and shorter by one once
// the session is resized.
class Shortened : public testing::TestWithParam<std::string> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Shortened);

TEST_P(Shortened, IsRefusedByThePlan) {
  std::vector<HostileModel> models;
  ASSERT_TRUE(ReadHostile(CasePath(GetParam(), ".shortened"), &models));
  const std::string name = GetParam();
  bool runs = false;
  for (const char* word : {"vnni", "avx512", "avx2", "i8mm", "dotprod", "fp16", "neon", "neonv7", "rvv", "portable"}) {
    runs = runs || (name.find(std::string("__") + word + "__") != std::string::npos && lathe::CpuRuns(word));
  }
  if (!runs) return;
  for (size_t i = 0; i < models.size(); ++i) {
    SCOPED_TRACE("model " + std::to_string(i));
    Opened opened(models[i], nullptr);
    ASSERT_EQ(opened.code, LATHE_OK) << opened.error.message;
    std::vector<lathe_shape> shapes(opened.api->input_count(opened.engine));
    for (size_t input = 0; input < shapes.size(); ++input) {
      lathe_tensor_info info = {};
      info.struct_size = sizeof(info);
      ASSERT_EQ(opened.api->input_info(opened.session, input, &info, &opened.error), LATHE_OK);
      shapes[input].rank = info.rank;
      memcpy(shapes[input].dims, info.dims_min, sizeof(info.dims_min));
    }
    const lathe_code code = opened.api->resize(opened.session, shapes.size(), shapes.data(), &opened.error);
    EXPECT_TRUE(code == LATHE_BAD_MODEL || code == LATHE_UNSUPPORTED) << code << " " << opened.error.message;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Shortened, testing::ValuesIn(CaseNames(".shortened")),
                         [](const testing::TestParamInfo<std::string>& info) { return info.param; });

}  // namespace
}  // namespace lathe_test
