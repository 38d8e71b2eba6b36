// Every kernel against the NumPy reference: one test per case file in the folder $LATHE_CASES.

#include <dirent.h>
#include <gtest/gtest.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <memory>

#include "native/runtime/cpu.h"
#include "native/runtime/half.h"
#include "native/runtime/span.h"
#include "native/tests/op_cases_file.h"

extern "C" const lathe_api* lathe_api_lathe_full(void);

namespace lathe_test {

std::vector<std::string> CaseNames(const std::string& suffix) {
  std::vector<std::string> names;
  const char* folder = getenv("LATHE_CASES");
  DIR* directory = folder != nullptr ? opendir(folder) : nullptr;
  if (directory == nullptr) return names;
  while (const dirent* entry = readdir(directory)) {
    const std::string name = entry->d_name;
    if (name.size() <= suffix.size() || name.compare(name.size() - suffix.size(), suffix.size(), suffix) != 0) continue;
    names.push_back(name.substr(0, name.size() - suffix.size()));
  }
  closedir(directory);
  std::sort(names.begin(), names.end());
  return names;
}

std::string CasePath(const std::string& name, const std::string& suffix) {
  return std::string(getenv("LATHE_CASES")) + "/" + name + suffix;
}

namespace {

// Bytes at an address that is a multiple of 64, as the core wants its weights.
class Aligned {
 public:
  explicit Aligned(const std::string& bytes) : size_(bytes.size()) {
    if (posix_memalign(&data_, 64, size_ > 0 ? size_ : 1) != 0) abort();
    memcpy(data_, bytes.data(), size_);
  }
  ~Aligned() { free(data_); }
  Aligned(const Aligned&) = delete;
  Aligned& operator=(const Aligned&) = delete;
  lathe_bytes bytes() const { return {data_, size_}; }
  void* data() { return data_; }

 private:
  void* data_ = nullptr;
  size_t size_;
};

double ElementAt(uint32_t dtype, const char* bytes, size_t index) {
  const auto read = [&](auto value) {
    memcpy(&value, bytes + index * sizeof(value), sizeof(value));
    return value;
  };
  switch (dtype) {
    case LATHE_F32:
      return read(0.0f);
    case LATHE_F16:
      return lathe::FloatFromF16(read(uint16_t{0}));
    case LATHE_BF16:
      return lathe::FloatFromBf16(read(uint16_t{0}));
    default:
      return read(0.0);
  }
}

// The largest difference between stored numbers; -1 where their elements are no such.
double StepsBetween(uint32_t dtype, const std::string& want, const std::string& have) {
  double most = 0;
  const auto compare = [&](auto zero) {
    auto a = zero, b = zero;
    for (size_t at = 0; at + sizeof(a) <= want.size(); at += sizeof(a)) {
      memcpy(&a, want.data() + at, sizeof(a));
      memcpy(&b, have.data() + at, sizeof(b));
      most = fmax(most, fabs(static_cast<double>(a) - static_cast<double>(b)));
    }
    return most;
  };
  if (dtype == LATHE_S8) return compare(int8_t{0});
  if (dtype == LATHE_U8) return compare(uint8_t{0});
  if (dtype == LATHE_S16) return compare(int16_t{0});
  return dtype == LATHE_U16 ? compare(uint16_t{0}) : -1;
}

size_t FloatSize(uint32_t dtype) {
  switch (dtype) {
    case LATHE_F32:
      return 4;
    case LATHE_F16:
    case LATHE_BF16:
      return 2;
    case LATHE_F64:
      return 8;
    default:
      return 0;  // not a float
  }
}

// How far the elements of an output are off.
struct Errors {
  double relative = 0;   // to the largest element
  double tolerated = 0;  // as a part of what is allowed
};

std::string Digits(double number) {
  char text[32];
  snprintf(text, sizeof(text), "%.3e", number);
  return text;
}

// The first element that is further off than allowed, as text; empty where there is none.
std::string Difference(const CaseTensor& expected, const std::string& actual, double rtol, double atol,
                       Errors* errors) {
  if (actual.size() != expected.bytes.size()) return "the output has another size";
  const size_t size = FloatSize(expected.dtype);
  if (size == 0) {
    if (actual == expected.bytes) return "";
    const double steps = StepsBetween(expected.dtype, expected.bytes, actual);
    if (steps >= 0 && steps <= atol) return "";
    return "integers differ, by " + Digits(steps);
  }
  if (atol >= 1) atol = 0;  // steps are those of stored numbers
  double largest = 0;
  const size_t count = actual.size() / size;
  for (size_t i = 0; i < count; ++i) {
    const double value = fabs(ElementAt(expected.dtype, expected.bytes.data(), i));
    if (isfinite(value) && value > largest) largest = value;
  }
  for (size_t i = 0; i < count; ++i) {
    const double want = ElementAt(expected.dtype, expected.bytes.data(), i);
    const double have = ElementAt(expected.dtype, actual.data(), i);
    if (want == have || (isnan(want) && isnan(have))) continue;
    const double error = fabs(want - have), allowed = atol + rtol * largest;
    if (error <= allowed) {
      if (largest > 0) errors->relative = fmax(errors->relative, error / largest);
      errors->tolerated = fmax(errors->tolerated, error / allowed);
      continue;
    }
    return "element " + std::to_string(i) + " is " + std::to_string(have) + ", not " + std::to_string(want) +
           " (difference " + std::to_string(error) + " of at most " + std::to_string(allowed) + ")";
  }
  return "";
}

// A number that outputs with other bits do not have, but for chance (FNV-1a).
std::string Digest(const std::vector<std::string>& outputs) {
  uint64_t digest = 14695981039346656037u;
  for (const std::string& output : outputs) {
    for (const char byte : output) digest = (digest ^ static_cast<unsigned char>(byte)) * 1099511628211u;
  }
  char text[17];
  snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(digest));
  return text;
}

struct Runner {
  // `pool`: threads to run on; null: the caller's alone.
  explicit Runner(const CaseFile& file, lathe_pool* pool = nullptr) : model(file.model), data(file.data), file(file) {
    lathe_engine_options options = {};
    options.struct_size = sizeof(options);
    options.num_threads = 1;
    options.pool = pool;
    options.model = model.bytes();
    options.data = data.bytes();
    if (api->engine_create(&options, &engine, &error) != LATHE_OK) return;
    if (api->session_create(engine, nullptr, &session, &error) != LATHE_OK) return;
    std::vector<lathe_shape> shapes;
    for (const CaseTensor& input : file.inputs) shapes.push_back(input.shape);
    ready = api->resize(session, shapes.size(), shapes.data(), &error) == LATHE_OK;
    const auto note = [](void* user, const lathe_node_event* event) {
      Runner& runner = *static_cast<Runner*>(user);
      if (runner.kernel != runner.file.kernel) runner.kernel = event->kernel;
    };
    api->set_observer(session, note, this);
  }
  ~Runner() {
    if (session != nullptr) api->session_destroy(session);
    if (engine != nullptr) api->engine_destroy(engine);
  }

  // The outputs of one run; empty and a message in `error` where something failed.
  std::vector<std::string> Run() {
    for (size_t i = 0; i < file.inputs.size(); ++i) {
      void* to = nullptr;
      size_t bytes = 0;
      if (api->input_data(session, i, &to, &bytes, &error) != LATHE_OK) return {};
      if (bytes != file.inputs[i].bytes.size()) return {};
      memcpy(to, file.inputs[i].bytes.data(), bytes);
    }
    return RunOnce();
  }

  // The same with a block for each input and output that ends where it does: AddressSanitizer then finds what is read
  // or written behind it, as a memory page of an application might end there.
  std::vector<std::string> RunInOwnBlocks() {
    std::vector<std::unique_ptr<Aligned>> blocks;
    std::vector<lathe_shape> shapes;
    for (const CaseTensor& input : file.inputs) shapes.push_back(input.shape);
    // Outputs whose size the data decides have room for the largest again.
    if (api->resize(session, shapes.size(), shapes.data(), &error) != LATHE_OK) return {};
    for (size_t i = 0; i < file.inputs.size(); ++i) {
      const std::string& input = file.inputs[i].bytes;
      if (input.empty()) continue;
      blocks.push_back(std::make_unique<Aligned>(input));
      const lathe_bytes bytes = blocks.back()->bytes();
      if (api->bind_input(session, i, bytes.data, bytes.size, &error) != LATHE_OK) return {};
    }
    for (size_t i = 0; i < file.outputs.size(); ++i) {
      const void* own = nullptr;
      size_t size = 0;
      if (api->output_data(session, i, &own, &size, &error) != LATHE_OK) return {};
      if (size == 0) continue;
      blocks.push_back(std::make_unique<Aligned>(std::string(size, '\x5a')));
      if (api->bind_output(session, i, blocks.back()->data(), size, &error) != LATHE_OK) return {};
    }
    const std::vector<std::string> outputs = RunOnce();
    for (size_t i = 0; i < file.inputs.size(); ++i) api->bind_input(session, i, nullptr, 0, nullptr);
    for (size_t i = 0; i < file.outputs.size(); ++i) api->bind_output(session, i, nullptr, 0, nullptr);
    return outputs;
  }

  std::vector<std::string> RunOnce() {
    if (api->run(session, &error) != LATHE_OK) return {};
    std::vector<std::string> outputs;
    for (size_t i = 0; i < file.outputs.size(); ++i) {
      const void* from = nullptr;
      size_t bytes = 0;
      if (api->output_data(session, i, &from, &bytes, &error) != LATHE_OK) return {};
      outputs.emplace_back(static_cast<const char*>(from), bytes);
    }
    return outputs;
  }

  const lathe_api* api = lathe_api_lathe_full();
  Aligned model, data;
  const CaseFile& file;
  lathe_error error = {};
  lathe_engine* engine = nullptr;
  lathe_session* session = nullptr;
  bool ready = false;
  std::string kernel;  // that of the file, or else the one that ran last
};

// A folder that cannot be read must not look like one without failures.
TEST(Folder, HoldsFiles) { EXPECT_FALSE(CaseNames("").empty()) << "$LATHE_CASES names no folder with files"; }

// All cases share one pool of three threads: starting threads takes longer than all the rest, in an emulator above all.
class OpCase : public testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() {
    lathe_error error = {};
    ASSERT_EQ(lathe_api_lathe_full()->pool_create(3, &three, &error), LATHE_OK) << error.message;
  }
  static void TearDownTestSuite() {
    lathe_api_lathe_full()->pool_destroy(three);
    three = nullptr;
  }
  static lathe_pool* three;
};
lathe_pool* OpCase::three = nullptr;
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(OpCase);

// Kernels of transformed filters read panels as wide as those of the other kernels of their architecture, and of no
// other; the portable ones have files for all. The name of a file ends in the packing. Panels of halves are equally
// wide everywhere.
std::string PackingOfOthers(const CaseFile& file, const std::string& name) {
#if defined(__arm__) || defined(__aarch64__)
  const std::string others = file.kernel.find("_f16_") == std::string::npos ? "_16" : "_8";
#else
  const std::string others = "_8";
#endif
  const size_t packing = name.rfind("_winograd");
  const bool is_other = name.size() > others.size() && name.substr(name.size() - others.size()) == others;
  return packing != std::string::npos && packing > file.kernel.size() && is_other ? name.substr(packing + 1) : "";
}

// Threads share the work in the same way whichever dimension is known at run time only: one of them is enough.
bool HasLaterSymbol(const std::string& name) {
  const size_t symbol = name.rfind("_symbol");
  return symbol != std::string::npos && name.compare(symbol, strlen("_symbol0"), "_symbol0") != 0;
}

TEST_P(OpCase, AgreesWithReference) {
  CaseFile file;
  ASSERT_TRUE(ReadCase(CasePath(GetParam(), ".case"), &file));
  const std::string packing = PackingOfOthers(file, GetParam());
  const std::string needed = packing.empty() ? lathe::IsaOf(file.kernel.c_str()) : packing;
  if (!packing.empty() || !lathe::CpuRuns(needed.c_str())) GTEST_SKIP() << "this machine does not run " << needed;
  Runner alone(file);
  ASSERT_TRUE(alone.ready) << file.kernel << ": " << alone.error.message;
  const std::vector<std::string> outputs = alone.Run();
  ASSERT_EQ(outputs.size(), file.outputs.size()) << file.kernel << ": " << alone.error.message;
  EXPECT_EQ(alone.kernel, file.kernel);
  Errors errors;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string difference = Difference(file.outputs[i], outputs[i], file.rtol, file.atol, &errors);
    EXPECT_EQ(difference, "") << file.kernel << ", output " << i;
    lathe_tensor_info info = {};
    info.struct_size = sizeof(info);
    ASSERT_EQ(alone.api->output_info(alone.session, i, &info, &alone.error), LATHE_OK) << alone.error.message;
    ASSERT_EQ(info.rank, file.outputs[i].shape.rank);
    for (uint32_t axis = 0; axis < info.rank; ++axis) EXPECT_EQ(info.dims[axis], file.outputs[i].shape.dims[axis]);
  }
  // For tests/ops/drawn, where they are read in the XML report.
  RecordProperty("kernel", file.kernel);
  RecordProperty("digest", Digest(outputs));
  RecordProperty("relative", Digits(errors.relative));
  RecordProperty("tolerated", Digits(errors.tolerated));
  EXPECT_EQ(alone.Run(), outputs) << file.kernel << ": a second run gives other bits";
#ifdef LATHE_CHECKS_INDEXES
  EXPECT_EQ(alone.RunInOwnBlocks(), outputs)
      << file.kernel << ": blocks of their own give other bits: " << alone.error.message;
#endif
  if (HasLaterSymbol(GetParam())) return;
  ASSERT_NE(three, nullptr);
  Runner together(file, three);
  ASSERT_TRUE(together.ready) << file.kernel << ": " << together.error.message;
  EXPECT_EQ(together.Run(), outputs) << file.kernel << ": three threads give other bits than one";
}

INSTANTIATE_TEST_SUITE_P(Files, OpCase, testing::ValuesIn(CaseNames(".case")),
                         [](const testing::TestParamInfo<std::string>& info) { return info.param; });

}  // namespace
}  // namespace lathe_test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
