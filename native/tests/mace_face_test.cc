// MACE's C++ interface over a library of the tests.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "mace/face/factory.h"
#include "mace/public/mace.h"
#include "mace/utils/logging.h"
#include "mace/utils/statistics.h"
#include "native/tests/engine_fixture.h"

namespace mace {
namespace {

using lathe_test::DimArg;
using lathe_test::ModelBuilder;

const face::Bind bind_test_a(BoundLibraries(), lathe_api_test_a());

constexpr uint32_t kF32 = LATHE_F32, kF16 = LATHE_F16, kS32 = LATHE_S32, kS64 = LATHE_S64;

template <typename T>
std::shared_ptr<T> Buffer(const std::vector<T>& values) {
  std::shared_ptr<T> buffer(new T[values.size() + 1], std::default_delete<T[]>());
  std::copy(values.begin(), values.end(), buffer.get());
  return buffer;
}

std::vector<float> Floats(const MaceTensor& tensor, size_t count) {
  return std::vector<float>(tensor.data().get(), tensor.data().get() + count);
}

struct Made {
  explicit Made(const ModelBuilder& model, DeviceType device = CPU) : data(model.data()), config(device) {
    config.SetCPUThreadPolicy(2, AFFINITY_NONE);
    // A graph that is gone, and one that lies at an odd address.
    const std::string graph = " " + model.Model();
    status = CreateMaceEngineFromProto(reinterpret_cast<const unsigned char*>(graph.data()) + 1, graph.size() - 1,
                                       reinterpret_cast<const unsigned char*>(data.data()), data.size(), {}, {}, config,
                                       &engine);
  }
  std::string data;
  MaceEngineConfig config;
  std::shared_ptr<MaceEngine> engine;
  MaceStatus status;
};

// relu over [1, 2, 2, 3] in the format given; x = 0 ... 11 in memory.
ModelBuilder ImageModel(const std::string& format) {
  ModelBuilder model("image");
  const std::vector<DimArg> dims = format == "NCHW" ? std::vector<DimArg>{1, 3, 2, 2} : std::vector<DimArg>{1, 2, 2, 3};
  const uint32_t x = model.Input(model.Value("x", dims), format);
  const uint32_t y = model.Value("y", dims);
  model.Node("relu", "relu", {x}, {y});
  model.Output(y, format);
  return model;
}

// What goes in comes out.
ModelBuilder PassModel(uint32_t dtype) {
  ModelBuilder model("pass");
  model.Output(model.Input(model.Value("x", {4}, dtype)));
  return model;
}

TEST(MaceFace, RefusesThreadPoliciesThatDoNotExist) {
  MaceEngineConfig config(CPU);
  for (const int count : {-1, 0, 1, 256})
    EXPECT_EQ(config.SetCPUThreadPolicy(count, AFFINITY_POWER_SAVE).code(), MaceStatus::MACE_SUCCESS);
  for (const int count : {-2, INT32_MIN, 257, 100000, INT32_MAX})
    EXPECT_EQ(config.SetCPUThreadPolicy(count, AFFINITY_NONE).code(), MaceStatus::MACE_INVALID_ARGS) << count;
  EXPECT_EQ(config.SetCPUThreadPolicy(1, static_cast<CPUAffinityPolicy>(7)).code(), MaceStatus::MACE_INVALID_ARGS);
}

TEST(MaceFace, TurnsImagesAround) {
  std::vector<float> numbers(12);
  std::iota(numbers.begin(), numbers.end(), 0.f);
  const std::vector<float> as_nhwc = {0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11};  // of numbers in NCHW
  Made made(ImageModel("NCHW"));
  ASSERT_EQ(made.status.code(), MaceStatus::MACE_SUCCESS) << made.status.information();
  std::map<std::string, MaceTensor> outputs;
  outputs["y"] = MaceTensor({12}, Buffer(numbers), DataFormat::NHWC);
  ASSERT_EQ(made.engine->Run({{"x", MaceTensor({1, 3, 2, 2}, Buffer(numbers), DataFormat::NCHW)}}, &outputs),
            MaceStatus::MACE_SUCCESS);
  EXPECT_EQ(Floats(outputs["y"], 12), as_nhwc);
  EXPECT_EQ(outputs["y"].shape(), (std::vector<int64_t>{1, 2, 2, 3}));
  outputs["y"] = MaceTensor({12}, Buffer(numbers), DataFormat::NCHW);
  ASSERT_EQ(made.engine->Run({{"x", MaceTensor({1, 2, 2, 3}, Buffer(as_nhwc))}}, &outputs), MaceStatus::MACE_SUCCESS);
  EXPECT_EQ(Floats(outputs["y"], 12), numbers);

  Made other(ImageModel("NHWC"));
  outputs["y"] = MaceTensor({12}, Buffer(numbers), DataFormat::NONE);
  ASSERT_EQ(other.engine->Run({{"x", MaceTensor({1, 3, 2, 2}, Buffer(numbers), DataFormat::NCHW)}}, &outputs),
            MaceStatus::MACE_SUCCESS);
  EXPECT_EQ(Floats(outputs["y"], 12), as_nhwc);

  const MaceStatus status = made.engine->Run({{"x", MaceTensor({1, 3, 2, 2}, Buffer(numbers))}}, &outputs);
  EXPECT_EQ(status.code(), MaceStatus::MACE_INVALID_ARGS);
  EXPECT_NE(status.information().find("'x' is NHWC 1,3,2,2 here, and in the model NCHW 1,3,2,2"), std::string::npos)
      << status.information();
}

TEST(MaceFace, ConvertsElements) {
  std::map<std::string, MaceTensor> outputs;
  Made whole(PassModel(kS32));
  const std::vector<int32_t> ints = {1, -2, 1 << 30, 4};
  outputs["x"] = MaceTensor({4}, Buffer<int32_t>({0, 0, 0, 0}));  // no type: whole numbers stay as they are
  ASSERT_EQ(whole.engine->Run({{"x", MaceTensor({4}, Buffer(ints))}}, &outputs), MaceStatus::MACE_SUCCESS);
  EXPECT_EQ(std::vector<int32_t>(outputs["x"].data<int32_t>().get(), outputs["x"].data<int32_t>().get() + 4), ints);
  outputs["x"] = MaceTensor({4}, Buffer<int8_t>({0, 0, 0, 0}), DataFormat::NONE, IDT_INT8);
  const MaceTensor floats({4}, Buffer<float>({1.9f, -2.9f, 1e9f, NAN}), DataFormat::NONE, IDT_FLOAT);
  ASSERT_EQ(whole.engine->Run({{"x", floats}}, &outputs), MaceStatus::MACE_SUCCESS);
  EXPECT_EQ(std::vector<int8_t>(outputs["x"].data<int8_t>().get(), outputs["x"].data<int8_t>().get() + 4),
            (std::vector<int8_t>{1, -2, 127, 0}));

  Made wide(PassModel(kS64));  // its buffers without a type are of int32_t: nothing is written behind them
  outputs["x"] = MaceTensor({4}, Buffer<int32_t>({0, 0, 0, 0}));
  ASSERT_EQ(wide.engine->Run({{"x", MaceTensor({4}, Buffer(ints))}}, &outputs), MaceStatus::MACE_SUCCESS);
  EXPECT_EQ(outputs["x"].data<int32_t>().get()[1], -2);

  Made half(PassModel(kF16));
  outputs["x"] = MaceTensor({4}, Buffer<float>({0, 0, 0, 0}));
  ASSERT_EQ(half.engine->Run({{"x", MaceTensor({4}, Buffer<float>({1, -0.1f, 70000, 6e-8f}))}}, &outputs),
            MaceStatus::MACE_SUCCESS);
  EXPECT_EQ(Floats(outputs["x"], 4), (std::vector<float>{1, -0.0999755859375f, INFINITY, 5.9604644775390625e-8f}));
}

TEST(MaceFace, HalvesAreExact) {
  for (uint32_t bits = 0; bits < 1 << 16; ++bits) {
    const float value = face::FloatOfHalf(static_cast<uint16_t>(bits));
    if (std::isnan(value)) {
      EXPECT_GT(bits & 0x7fffu, 0x7c00u);
      continue;
    }
    ASSERT_EQ(face::HalfOfFloat(value), bits);
    const int exponent = static_cast<int>(bits >> 10 & 31);
    const float mantissa = static_cast<float>(bits & 1023u) + (exponent != 0 ? 1024.f : 0.f);
    const float expected = exponent == 31 ? INFINITY : std::ldexp(mantissa, std::max(exponent, 1) - 25);
    ASSERT_EQ(std::fabs(value), expected);
    if ((bits & 0x7fffu) >= 0x7bffu) continue;
    const float next = face::FloatOfHalf(static_cast<uint16_t>(bits + 1));
    ASSERT_EQ(face::HalfOfFloat((value + next) / 2), bits + (bits & 1u));  // halfway: to the even one
  }
  EXPECT_EQ(face::HalfOfFloat(65519.f), 0x7bff);
  EXPECT_EQ(face::HalfOfFloat(65520.f), 0x7c00);
  EXPECT_EQ(face::Bfloat16OfFloat(1.00390625f), 0x3f80);  // a tie
  EXPECT_EQ(face::Bfloat16OfFloat(1.01171875f), 0x3f82);
}

TEST(MaceFace, FollowsShapes) {
  Made made(lathe_test::DynamicModel());
  ASSERT_EQ(made.status, MaceStatus::MACE_SUCCESS) << made.status.information();
  for (const int64_t rows : {2, 8, 5}) {
    std::map<std::string, MaceTensor> outputs;
    outputs["y"] = MaceTensor({24}, Buffer(std::vector<float>(24)));
    const std::vector<float> numbers(static_cast<size_t>(rows) * 3, static_cast<float>(rows));
    ASSERT_EQ(made.engine->Run({{"x", MaceTensor({rows, 3}, Buffer(numbers))}}, &outputs), MaceStatus::MACE_SUCCESS);
    EXPECT_EQ(outputs["y"].shape(), std::vector<int64_t>{rows * 3});
    EXPECT_EQ(Floats(outputs["y"], numbers.size()), numbers);
    ASSERT_EQ(made.engine->ReleaseIntermediateBuffer(), MaceStatus::MACE_SUCCESS);
  }
  std::map<std::string, MaceTensor> outputs;
  outputs["y"] = MaceTensor({3}, Buffer(std::vector<float>(3)));
  const MaceTensor two({2, 3}, Buffer(std::vector<float>(6)));
  MaceStatus status = made.engine->Run({{"x", two}}, &outputs);
  EXPECT_EQ(status.information(), "Invalid Arguments: output 'y' is 6, and its buffer has room for 3 elements");
  const MaceTensor nine({9, 3}, Buffer(std::vector<float>(27)));
  status = made.engine->Run({{"x", nine}}, &outputs);
  EXPECT_EQ(status.code(), MaceStatus::MACE_INVALID_ARGS);
  outputs.clear();
  EXPECT_EQ(made.engine->Run({{"x", two}}, &outputs), MaceStatus::MACE_SUCCESS);  // a refusal does no harm
}

TEST(MaceFace, KeepsInputsAndKnowsNames) {
  Made made(lathe_test::ChainModel());
  std::map<std::string, MaceTensor> outputs;
  outputs["y"] = MaceTensor({4}, Buffer<float>({0, 0, 0, 0}));
  EXPECT_EQ(made.engine->Run({}, &outputs).information(), "Invalid Arguments: input 'x' is missing");
  ASSERT_EQ(made.engine->Run({{"x", MaceTensor({4}, Buffer<float>({1, 2, 3, 4}))}}, &outputs),
            MaceStatus::MACE_SUCCESS);
  EXPECT_EQ(Floats(outputs["y"], 4), (std::vector<float>{7, 13, 19, 25}));
  outputs["y"].data().get()[0] = 0;
  ASSERT_EQ(made.engine->Run({}, &outputs), MaceStatus::MACE_SUCCESS);
  EXPECT_EQ(outputs["y"].data().get()[0], 7);
  EXPECT_EQ(made.engine->Run({{"z", MaceTensor()}}, &outputs).information(),
            "Invalid Arguments: the model has no input 'z'; it has: x");
  EXPECT_EQ(made.engine->Run({{"x", MaceTensor()}}, &outputs).information(),
            "Invalid Arguments: input 'x' has no buffer");
  EXPECT_EQ(made.engine->Run({}, nullptr), MaceStatus::MACE_INVALID_ARGS);
}

// A library as those with kernels for GPUs, which keeps what engines are asked for.
struct AsWithGpu {
  AsWithGpu() : api(*lathe_api_test_a()) {
    api.kernel_count = [] { return size_t{1}; };
    api.kernel_name = [](size_t) { return "device_region_any_region__opencl"; };
    api.engine_create = [](const lathe_engine_options* options, lathe_engine** engine, lathe_error* error) {
      asked = *options->device;
      asked_path = asked.binary_path_count == 0 ? "" : asked.binary_paths[asked.binary_path_count - 1];
      asked_storage = asked.storage_path != nullptr ? asked.storage_path : "";
      return lathe_api_test_a()->engine_create(options, engine, error);
    };
    api.device_info = [](const lathe_engine*, lathe_device_info* info, lathe_error*) {
      info->reason = "there is no driver";
      info->kind = LATHE_DEVICE_CPU;
      return lathe_code{LATHE_OK};
    };
  }
  MaceStatus Init(const MaceEngineConfig& config) {
    const ModelBuilder model = lathe_test::ChainModel();
    const NetDef net(face::Libraries(1, &api), model.Model());
    const std::string data = model.data();
    return MaceEngine(config).Init(&net, {}, {}, reinterpret_cast<const unsigned char*>(data.data()),
                                   static_cast<int64_t>(data.size()));
  }
  lathe_api api;
  static lathe_device_options asked;
  static std::string asked_path, asked_storage;
};
lathe_device_options AsWithGpu::asked = {};
std::string AsWithGpu::asked_path, AsWithGpu::asked_storage;

TEST(MaceFace, HandsOnWhatIsSaidOfTheGpu) {
  AsWithGpu library;
  const unsigned char programs[] = {1, 2, 3}, parameters[] = {4, 5};
  GPUContextBuilder builder;
  builder.SetStoragePath("/store").SetOpenCLBinaryPaths({"/first", "/second"}).SetOpenCLBinary(programs, 3);
  builder.SetOpenCLParameterPath("/tuned").SetOpenCLParameter(parameters, 2);
  MaceEngineConfig config(GPU);
  EXPECT_EQ(config.SetGPUContext(builder.Finalize()), MaceStatus::MACE_SUCCESS);
  EXPECT_EQ(config.SetGPUHints(PERF_HIGH, PRIORITY_LOW), MaceStatus::MACE_SUCCESS);
  EXPECT_EQ(config.SetGPUHints(static_cast<GPUPerfHint>(7), PRIORITY_LOW), MaceStatus::MACE_INVALID_ARGS);
  testing::internal::CaptureStdout();
  EXPECT_EQ(library.Init(config), MaceStatus::MACE_SUCCESS);
  EXPECT_NE(testing::internal::GetCapturedStdout().find("the CPU computes: there is no driver"), std::string::npos);
  const lathe_device_options& asked = AsWithGpu::asked;
  EXPECT_EQ(asked.kind, uint32_t{LATHE_DEVICE_ANY});
  EXPECT_EQ(asked.perf_hint, 3u);
  EXPECT_EQ(asked.priority_hint, 1u);
  EXPECT_EQ(AsWithGpu::asked_storage, "/store");
  EXPECT_EQ(asked.binary_path_count, 2u);
  EXPECT_EQ(AsWithGpu::asked_path, "/second");
  EXPECT_EQ(asked.binary.data, programs);
  EXPECT_EQ(asked.tuning.size, 2u);

  testing::internal::CaptureStdout();
  EXPECT_EQ(library.Init(MaceEngineConfig(CPU)), MaceStatus::MACE_SUCCESS);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(asked.kind, uint32_t{LATHE_DEVICE_CPU});

  EXPECT_FALSE(GetCapability(GPU).supported);
  EXPECT_TRUE(face::CapabilityOf(face::Libraries(1, &library.api), GPU).supported);
}

TEST(MaceFace, HandsOnWhatIsSaidOfTheDsp) {
  AsWithGpu library;
  MaceEngineConfig config(HEXAGON);
  EXPECT_EQ(config.SetHexagonToUnsignedPD(), MaceStatus::MACE_SUCCESS);
  EXPECT_EQ(config.SetHexagonPower(HEXAGON_NN_CORNER_NOMINAL, false, 100), MaceStatus::MACE_SUCCESS);
  testing::internal::CaptureStdout();
  EXPECT_EQ(library.Init(config), MaceStatus::MACE_SUCCESS);
  EXPECT_NE(testing::internal::GetCapturedStdout().find("DeviceType::HEXAGON, and the CPU computes"),
            std::string::npos);
  const lathe_device_options& asked = AsWithGpu::asked;
  EXPECT_EQ(asked.kind, uint32_t{LATHE_DEVICE_ANY});
  EXPECT_EQ(asked.dsp_flags, static_cast<uint32_t>(LATHE_DSP_UNSIGNED) | uint32_t{LATHE_DSP_FIXED_CLOCKS});
  EXPECT_EQ(asked.dsp_power, uint32_t{LATHE_DSP_POWER_NOMINAL});
  EXPECT_EQ(asked.dsp_latency, 100u);
}

TEST(MaceFace, RefusesWithReasons) {
  Made apu(lathe_test::ChainModel(), APU);
  EXPECT_EQ(apu.status.code(), MaceStatus::MACE_UNSUPPORTED);
  std::map<std::string, MaceTensor> outputs;
  EXPECT_EQ(apu.engine->Run({}, &outputs), MaceStatus::MACE_INVALID_ARGS);
  EXPECT_FALSE(GetCapability(HEXAGON).supported);
  EXPECT_GT(GetCapability(CPU).float32_performance.exec_time, 0);
  EXPECT_EQ(apu.config.SetHexagonPower(static_cast<HexagonNNCornerType>(7), true, 100), MaceStatus::MACE_INVALID_ARGS);
  EXPECT_EQ(apu.config.SetHexagonPower(HEXAGON_NN_CORNER_TURBO, true, -1), MaceStatus::MACE_INVALID_ARGS);

  Made unknown(lathe_test::PickModel(9));
  EXPECT_EQ(unknown.status.code(), MaceStatus::MACE_UNSUPPORTED);
  EXPECT_NE(unknown.status.information().find("mode 9"), std::string::npos);

  const MaceEngineConfig config(CPU);
  std::shared_ptr<MaceEngine> engine;
  const auto create = [&](const std::string& graph) {
    return CreateMaceEngineFromProto(reinterpret_cast<const unsigned char*>(graph.data()), graph.size(), nullptr, 0,
                                     {"x"}, {"y"}, config, &engine);
  };
  lathe_test::PbWriter foreign;
  foreign.Bytes(1, "an operator").Varint(4, 1).Bytes(100, "an input").Bytes(101, "an output");
  EXPECT_NE(create(foreign.bytes()).information().find("was made by MACE"), std::string::npos);
  EXPECT_EQ(create(ImageModel("NHWC").Model()), MaceStatus::MACE_SUCCESS);
  EXPECT_EQ(create(PassModel(kF32).Model()).information(), "Invalid Arguments: the model has no output 'y'; it has: x");
  for (size_t size = 0; size < foreign.bytes().size(); ++size)
    EXPECT_EQ(create(foreign.bytes().substr(0, size)).code(), MaceStatus::MACE_INVALID_ARGS) << size;
  EXPECT_EQ(CreateMaceEngineFromProto(nullptr, 0, nullptr, 0, {}, {}, config, &engine), MaceStatus::MACE_INVALID_ARGS);
  EXPECT_NE(CreateMaceEngineFromCode("x", nullptr, 0, {}, {}, config, &engine).information().find("holds a model 'x'"),
            std::string::npos);
}

TEST(MaceFace, FillsInStatistics) {
  Made made(lathe_test::ChainModel());
  std::map<std::string, MaceTensor> outputs;
  RunMetadata metadata;
  const MaceTensor x({4}, Buffer<float>({1, 2, 3, 4}));
  ASSERT_EQ(made.engine->Run({{"x", x}}, &outputs, &metadata), MaceStatus::MACE_SUCCESS);
  ASSERT_EQ(metadata.op_stats.size(), 3u);
  const OperatorStats& relu = metadata.op_stats[0];
  EXPECT_EQ(relu.operator_name + " " + relu.type, "relu1 Activation");
  EXPECT_EQ(relu.output_shape, (std::vector<std::vector<int64_t>>{{4}}));
  EXPECT_LE(relu.stats.start_micros, relu.stats.end_micros);
  EXPECT_EQ(metadata.op_stats[1].type, "scale");  // an operator that MACE has no word for
  benchmark::OpStat stat;
  stat.StatMetadata(metadata);
  stat.PrintStat();
  EXPECT_EQ(benchmark::StatMACs("Conv2D", {8, 3, 5, 5}, {1, 10, 10, 8}), 1 * 10 * 10 * 8 * 3 * 5 * 5);
  EXPECT_EQ(benchmark::IntToString(-1234567), "-1,234,567");
}

TEST(MaceFace, ChoosesCores) {
  const std::vector<float> frequencies = {1, 1, 3, 2, 3};
  using Cores = std::vector<size_t>;
  EXPECT_EQ(face::CoresOf(AFFINITY_NONE, 2, frequencies), Cores());
  EXPECT_EQ(face::CoresOf(AFFINITY_BIG_ONLY, 1, frequencies), (Cores{2, 4}));
  EXPECT_EQ(face::CoresOf(AFFINITY_LITTLE_ONLY, -1, frequencies), (Cores{0, 1}));
  EXPECT_EQ(face::CoresOf(AFFINITY_HIGH_PERFORMANCE, 3, frequencies), (Cores{2, 4, 3}));
  EXPECT_EQ(face::CoresOf(AFFINITY_POWER_SAVE, 2, frequencies), (Cores{0, 1}));
  EXPECT_EQ(face::CoresOf(AFFINITY_BIG_ONLY, 1, {2, 2}), Cores());
}

TEST(MaceFace, HelpersDoWhatTheySay) {
  EXPECT_EQ(Split("a,,b,", ','), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(MakeString("x", 1, std::string("y")) + MakeString(std::vector<int>{1, 2}), "x1y[1, 2]");
  const std::string file = testing::TempDir() + "/mace_face_test.bin";
  std::unique_ptr<port::WritableFile> out;
  MACE_CHECK_SUCCESS(GetFileSystem()->NewWritableFile(file.c_str(), &out));
  MACE_CHECK_SUCCESS(out->Append("abc", 3));
  MACE_CHECK_SUCCESS(out->Close());
  std::unique_ptr<port::ReadOnlyMemoryRegion> in = make_unique<port::ReadOnlyBufferMemoryRegion>();
  MACE_CHECK_SUCCESS(GetFileSystem()->NewReadOnlyMemoryRegionFromFile(file.c_str(), &in));
  EXPECT_EQ(std::string(static_cast<const char*>(in->data()), in->length()), "abc");
  EXPECT_EQ(GetFileSystem()->NewReadOnlyMemoryRegionFromFile("/no/such/file", &in).code(),
            MaceStatus::MACE_RUNTIME_ERROR);
}

}  // namespace
}  // namespace mace
