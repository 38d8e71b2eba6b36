// Paddle-Lite's C++ interface over a library of the tests.
#include "paddle_api.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "native/tests/engine_fixture.h"
#include "paddle_lite_factory_helper.h"
#include "paddle_use_kernels.h"
#include "paddle_use_ops.h"
#include "paddle_use_passes.h"

USE_LITE_OP(relu);
USE_MIR_PASS(lite_conv_bn_fuse_pass);

namespace paddle {
namespace lite_api {
namespace {

using lathe_test::DimArg;
using lathe_test::ModelBuilder;

const face::Bind bind_test_a(face::BoundLibraries(), lathe_api_test_a());

constexpr uint32_t kF32 = LATHE_F32, kS64 = LATHE_S64, kS32 = LATHE_S32;

// A folder that goes with its files.
class Folder {
 public:
  Folder() {
    char name[] = "/tmp/lathe_paddle_XXXXXX";
    EXPECT_NE(mkdtemp(name), nullptr);
    name_ = name;
  }
  ~Folder() { EXPECT_EQ(std::system(("rm -r " + name_).c_str()), 0); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return name_ + "/" + name; }
  std::string Write(const std::string& name, const std::string& contents) const {
    std::ofstream(*this / name, std::ios::binary) << contents;
    return *this / name;
  }

 private:
  std::string name_;
};

std::string Contents(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// relu over an image of 1 x 2 x 2 pixels with 3 channels; x = 0 ... 11 in memory.
ModelBuilder ImageModel(const std::string& format) {
  ModelBuilder model("image");
  const std::vector<DimArg> dims = format == "NCHW" ? std::vector<DimArg>{1, 3, 2, 2} : std::vector<DimArg>{1, 2, 2, 3};
  const uint32_t x = model.Input(model.Value("x", dims), format);
  const uint32_t y = model.Value("y", dims);
  model.Node("relu", "relu", {x}, {y});
  model.Output(y, format);
  return model;
}

ModelBuilder PassModel(uint32_t dtype) {
  ModelBuilder model("pass");
  model.Output(model.Input(model.Value("x", {4}, dtype)));
  return model;
}

MobileConfig ConfigOf(const ModelBuilder& model) {
  const std::string graph = model.Model(), data = model.data();
  MobileConfig config;
  config.set_threads(2);
  config.set_model_buffer(graph.data(), graph.size(), data.data(), data.size());
  return config;
}

std::shared_ptr<PaddlePredictor> Of(const ModelBuilder& model) { return CreatePaddlePredictor(ConfigOf(model)); }

template <typename Function>
std::string MessageOf(Function function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(PaddleFace, ImagesAreInNchwWhateverTheModelDeclares) {
  for (const std::string format : {"NHWC", "NCHW"}) {
    const auto predictor = Of(ImageModel(format));
    const auto input = predictor->GetInput(0);
    EXPECT_EQ(input->shape(), (shape_t{1, 3, 2, 2}));
    float* data = input->mutable_data<float>();
    for (int i = 0; i < 12; ++i) data[i] = static_cast<float>(i - 3);
    const auto output = predictor->GetOutput(0);  // before the run, as programs do
    EXPECT_EQ(output->data<float>(), nullptr);
    EXPECT_FALSE(output->IsInitialized());
    predictor->Run();
    EXPECT_EQ(output->shape(), (shape_t{1, 3, 2, 2}));
    for (int i = 0; i < 12; ++i) EXPECT_EQ(output->data<float>()[i], static_cast<float>(i < 3 ? 0 : i - 3)) << format;
    data[11] = 77;
    predictor->Run();
    EXPECT_EQ(output->data<float>()[11], 77) << format;
    EXPECT_EQ(predictor->GetTensor("y")->data<float>()[11], 77);
  }
}

TEST(PaddleFace, ElementsAreConverted) {
  const auto predictor = Of(PassModel(kS64));
  const auto input = predictor->GetInput(0);
  EXPECT_EQ(input->precision(), PRECISION(kInt64));
  const float given[] = {1, -2, 3.7f, 1e30f};
  input->CopyFromCpu<float, TARGET(kARM)>(given);
  EXPECT_EQ(input->precision(), PRECISION(kFloat));
  EXPECT_EQ(input->data<int64_t>()[1], -2);
  predictor->Run();
  const auto output = predictor->GetOutput(0);
  EXPECT_EQ(output->precision(), PRECISION(kInt64));
  EXPECT_EQ(output->data<int64_t>()[2], 3);
  EXPECT_EQ(output->data<int64_t>()[3], INT64_MAX);
  EXPECT_EQ(output->data<float>()[1], -2.f);
  EXPECT_EQ(output->data<int>()[0], 1);
  EXPECT_EQ(output->data<void>(), output->data<int64_t>());
  int64_t copied[4] = {};
  output->CopyToCpu(copied);
  EXPECT_EQ(copied[1], -2);
}

TEST(PaddleFace, InputsAreReadInPlace) {
  const auto predictor = Of(PassModel(kF32));
  const auto input = predictor->GetInput(0);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(input->mutable_data<float>()) % 64, 0u);
  alignas(64) float shared[5] = {5, 6, 7, 8, 9};
  for (float* at : {shared, shared + 1}) {
    input->ShareExternalMemory(at, 4 * sizeof(float), TARGET(kHost));
    predictor->Run();
    EXPECT_EQ(predictor->GetOutput(0)->data<float>()[3], at[3]);
    at[3] = 80;
    predictor->Run();
    EXPECT_EQ(predictor->GetOutput(0)->data<float>()[3], 80);
  }
  input->ShareExternalMemory(shared, sizeof(float), TARGET(kHost));
  EXPECT_EQ(MessageOf([&] { predictor->Run(); }),
            "input 'x' has 16 bytes, and its memory has 4: call mutable_data after Resize");
}

// y = relu(x) over rows, whose offsets are an input beside it, which comes out as it went in.
ModelBuilder Sequences() {
  ModelBuilder model("sequences");
  const DimArg rows = model.Expr({lathe_test::Sym(model.Symbol("rows", 1, 100))});
  const DimArg offsets = model.Expr({lathe_test::Sym(model.Symbol("offsets", 2, 10))});
  const uint32_t x = model.Input(model.Value("x", {rows, 2}));
  const uint32_t lod = model.Input(model.Value("x.lod", {offsets}, kS32));
  const uint32_t y = model.Value("y", {rows, 2});
  model.Node("relu", "relu", {x}, {y});
  model.Output(y);
  model.Output(lod);
  return model;
}

TEST(PaddleFace, OffsetsAreAnInputBesideTheRows) {
  const auto predictor = Of(Sequences());
  EXPECT_EQ(predictor->GetInputNames(), std::vector<std::string>{"x"});
  EXPECT_EQ(predictor->GetOutputNames(), (std::vector<std::string>{"y", "x.lod"}));
  const auto input = predictor->GetInput(0);
  const auto outputs = {predictor->GetOutput(0), predictor->GetOutput(1)};
  const lod_t lod = {{0, 1, 2}, {0, 3, 5}};
  input->Resize({5, 2});
  input->SetLoD(lod);
  for (int i = 0; i < 10; ++i) input->mutable_data<float>()[i] = static_cast<float>(i);
  predictor->Run();
  EXPECT_EQ(outputs.begin()[0]->shape(), (shape_t{5, 2}));
  EXPECT_EQ(outputs.begin()[0]->data<float>()[9], 9.f);
  EXPECT_EQ(outputs.begin()[0]->lod(), lod);
  EXPECT_EQ(outputs.begin()[1]->shape(), (shape_t{3}));
  EXPECT_EQ(outputs.begin()[1]->data<int>()[1], 3);
  EXPECT_TRUE(outputs.begin()[1]->lod().empty());
  input->SetLoD({});  // one sequence of all rows
  input->Resize({4, 2});
  input->mutable_data<float>();
  predictor->Run();
  EXPECT_EQ(outputs.begin()[1]->shape(), (shape_t{2}));
  EXPECT_EQ(outputs.begin()[1]->data<int>()[1], 4);
}

TEST(PaddleFace, InnerValuesAreKeptWhenTheyAreAskedFor) {
  ModelBuilder model("inner");
  const uint32_t x = model.Input(model.Value("x", {3}));
  const uint32_t inner = model.Value("inner", {3});
  const uint32_t y = model.Value("y", {3});
  model.Node("relu", "first", {x}, {inner});
  model.Node("relu", "second", {inner}, {y});
  model.Output(y);
  const auto predictor = Of(model);
  EXPECT_EQ(predictor->GetTensor("nothing"), nullptr);
  EXPECT_EQ(predictor->GetInputByName("y"), nullptr);
  const auto input = predictor->GetInputByName("x");
  const float given[] = {-1, 2, 3};
  input->CopyFromCpu(given);
  predictor->Run();
  const auto found = predictor->GetTensor("inner");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->data<float>()[0], 0);
  EXPECT_EQ(found->data<float>()[2], 3);
  EXPECT_EQ(predictor->GetOutput(0)->data<float>()[1], 2);
}

TEST(PaddleFace, ClonesAndShrunkPredictorsGoOn) {
  const auto predictor = Of(PassModel(kF32));
  const auto clone = predictor->Clone();
  const float one[] = {1, 1, 1, 1}, two[] = {2, 2, 2, 2};
  predictor->GetInput(0)->CopyFromCpu(one);
  clone->GetInput(0)->CopyFromCpu(two);
  predictor->Run();
  clone->Run();
  EXPECT_EQ(predictor->GetOutput(0)->data<float>()[0], 1);
  EXPECT_EQ(clone->GetOutput(0)->data<float>()[0], 2);
  EXPECT_TRUE(predictor->TryShrinkMemory());
  EXPECT_EQ(predictor->GetOutput(0)->data<float>(), nullptr);
  predictor->Run();
  EXPECT_EQ(predictor->GetOutput(0)->data<float>()[0], 1);
  auto output = predictor->GetOutput(0);
  EXPECT_EQ(predictor->GetVersion(), GetVersion());
}

TEST(PaddleFace, ModelsAreFoundInFilesFoldersAndMemory) {
  ModelBuilder model("weights");
  const std::vector<float> numbers = {10, 20, 30, 40};
  const uint32_t x = model.Input(model.Value("x", {4}));
  const uint32_t c = model.Floats("c", {4}, numbers);
  const uint32_t y = model.Value("y", {4});
  model.Node("add", "add", {x, c}, {y});
  model.Output(y);
  const Folder folder;
  const std::string file = folder.Write("net.pb", model.Model());
  folder.Write("net.data", model.data());
  const auto run = [&](const std::shared_ptr<PaddlePredictor>& predictor) {
    const float given[] = {1, 2, 3, 4};
    predictor->GetInput(0)->CopyFromCpu(given);
    predictor->Run();
    return predictor->GetOutput(0)->data<float>()[3];
  };
  MobileConfig mobile;
  mobile.set_model_from_file(file);
  const auto predictor = CreatePaddlePredictor<MobileConfig>(mobile);
  EXPECT_EQ(run(predictor), 44);
  MobileConfig old;
  old.set_model_dir(folder / "");
  EXPECT_EQ(run(CreatePaddlePredictor<MobileConfig>(old)), 44);
  CxxConfig full;
  full.set_model_file(file);
  full.set_param_file(folder / "net.data");
  full.set_valid_places({Place{TARGET(kARM), PRECISION(kFloat)}});
  EXPECT_EQ(run(CreatePaddlePredictor<CxxConfig>(full)), 44);

  predictor->SaveOptimizedModel(folder / "saved", LiteModelType::kNaiveBuffer);
  mobile.set_model_from_file(folder / "saved.nb");
  const auto saved = CreatePaddlePredictor<MobileConfig>(mobile);
  EXPECT_EQ(run(saved), 44);
  mobile.set_model_from_buffer(Contents(folder / "saved.nb"));
  EXPECT_TRUE(mobile.is_model_from_memory());
  EXPECT_EQ(run(CreatePaddlePredictor<MobileConfig>(mobile)), 44);
  saved->SaveOptimizedModel(folder / "again", LiteModelType::kNaiveBuffer);
  EXPECT_EQ(Contents(folder / "again.nb"), Contents(folder / "saved.nb"));
  predictor->SaveOptimizedModel(folder / "parts");
  EXPECT_EQ(Contents(folder / "parts/model.data"), model.data());
  full = CxxConfig();
  full.set_model_dir(folder / "parts");
  EXPECT_EQ(run(CreatePaddlePredictor<CxxConfig>(full)), 44);
  unlink((folder / "net.data").c_str());
  mobile.set_model_from_file(file);
  EXPECT_NE(MessageOf([&] { CreatePaddlePredictor<MobileConfig>(mobile); }).find("no data was given"),
            std::string::npos);
}

TEST(PaddleFace, ForeignModelsAreRefusedByName) {
  const Folder folder;
  std::string naive("\x02\x00v2.12\0\0\0\0\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0", 26);
  const std::string nb = folder.Write("model.nb", naive + std::string(100, 'x'));
  const std::string program = folder.Write("model.pdmodel", std::string("\x0a\x06\x08\x00\x10\xff\xff\x07", 8));
  MobileConfig config;
  config.set_model_from_file(nb);
  const std::string told = MessageOf([&] { CreatePaddlePredictor<MobileConfig>(config); });
  EXPECT_EQ(told.find(nb + ": this is a model of Paddle-Lite's opt (.nb); "), 0u) << told;
  EXPECT_NE(told.find("lathe init MODEL"), std::string::npos);
  config.set_model_from_buffer(naive);
  EXPECT_EQ(MessageOf([&] { CreatePaddlePredictor(config); }).find("the model in memory: this is a model of Paddle-"),
            0u);
  config.set_model_from_file(program);
  EXPECT_EQ(MessageOf([&] { CreatePaddlePredictor(config); }).find(program + ": this is a program of Paddle; "), 0u);
  CxxConfig full;
  full.set_model_dir(folder / "");
  EXPECT_NE(MessageOf([&] { CreatePaddlePredictor(full); }).find("model.pdmodel: this is a program of Paddle"),
            std::string::npos);
  config.set_model_from_file("mobilenet");
  EXPECT_EQ(
      MessageOf([&] { CreatePaddlePredictor(config); }),
      "there is no model file 'mobilenet', and no library that is known here holds a model of this name; they hold "
      "none: model_graph_format: code puts models into a library");
}

TEST(PaddleFace, MistakesAreErrors) {
  const auto predictor = Of(PassModel(kF32));
  EXPECT_EQ(MessageOf([&] { predictor->GetInput(1); }), "there is no input 1; the model has 1");
  EXPECT_EQ(MessageOf([&] { predictor->GetOutput(-1); }), "there is no output -1; the model has 1");
  EXPECT_EQ(MessageOf([&] { predictor->Run(); }), "input 'x' has no data: fill what mutable_data returns before Run");
  const auto input = predictor->GetInput(0);
  EXPECT_EQ(MessageOf([&] { input->Resize({-1, 3}); }), "input 'x' has a negative dimension: -1,3");
  EXPECT_EQ(MessageOf([&] { input->Resize(shape_t(9, 1)); }), "input 'x' has too many dimensions: 1,1,1,1,1,1,1,1,1");
  input->Resize({5});
  input->mutable_data<float>();
  EXPECT_NE(MessageOf([&] { predictor->Run(); }).find("(inputs were given other shapes: 'x' 5)"), std::string::npos);
  EXPECT_EQ(MessageOf([&] { CreatePaddlePredictor(MobileConfig()); }),
            "the configuration names no model: set_model_from_file");
  MobileConfig config = ConfigOf(PassModel(kF32));
  config.set_power_mode(static_cast<PowerMode>(7));
  EXPECT_EQ(MessageOf([&] { CreatePaddlePredictor(config); }), "there is no PowerMode 7");
}

TEST(PaddleFace, EveryPowerModeRuns) {
  for (int mode = LITE_POWER_HIGH; mode <= LITE_POWER_RAND_LOW; ++mode) {
    MobileConfig config = ConfigOf(PassModel(kF32));
    config.set_power_mode(static_cast<PowerMode>(mode));
    EXPECT_EQ(config.power_mode(), mode);
    const auto predictor = CreatePaddlePredictor<MobileConfig>(config);
    const float given[] = {1, 2, 3, 4};
    predictor->GetInput(0)->CopyFromCpu(given);
    for (int run = 0; run < 25; ++run) predictor->Run();
    EXPECT_EQ(predictor->GetOutput(0)->data<float>()[3], 4);
  }
}

TEST(PaddleFace, PlacesHaveWords) {
  const Place place(TARGET(kARM), PRECISION(kInt8), DATALAYOUT(kNHWC));
  EXPECT_EQ(place.DebugString(), "arm/int8_t/NHWC");
  EXPECT_TRUE(place.is_valid());
  EXPECT_FALSE(Place().is_valid());
  EXPECT_TRUE(Place(TARGET(kX86)) < place);
  EXPECT_NE(Place(TARGET(kARM)), place);
  EXPECT_EQ(PrecisionTypeLength(PRECISION(kFP16)), 2u);
  EXPECT_EQ(PrecisionTypeTrait<int64_t>::Type(), PRECISION(kInt64));
}

}  // namespace
}  // namespace lite_api
}  // namespace paddle
