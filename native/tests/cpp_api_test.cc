// The C++ face, and two libraries in one program.
#include <gtest/gtest.h>

#include <algorithm>

#include "lathe/engine.h"
#include "native/tests/engine_fixture.h"

namespace lathe_test {
namespace {

struct Files {
  explicit Files(const ModelBuilder& builder) : model(builder.Model()), data(builder.data()) {
    options.model = {model.data(), model.size()};
    options.data = {data.data(), data.size()};
    options.threads = 1;
  }
  std::string model, data;
  lathe::EngineOptions options;
};

TEST(CppApi, RunsAModel) {
  Files files(ChainModel());
  auto engine = lathe::Engine::Create(lathe_api_test_a(), files.options);
  ASSERT_TRUE(engine.ok()) << engine.status().message();
  auto session = engine->CreateSession();
  ASSERT_TRUE(session.ok()) << session.status().message();
  auto x = session->Input("x");
  ASSERT_TRUE(x.ok());
  EXPECT_EQ(x->shape(), (lathe::Dims{4}));
  EXPECT_EQ(x->size(), 4);
  EXPECT_EQ(x->data<int32_t>(), nullptr);
  std::fill_n(x->data<float>(), 4, 1.0f);
  EXPECT_TRUE(session->Run().ok());
  auto y = session->Output(0);
  ASSERT_TRUE(y.ok());
  EXPECT_EQ(y->data<const float>()[3], 7.0f);
  EXPECT_STREQ(y->format(), "NONE");
  EXPECT_FALSE(session->Output("z").ok());
  EXPECT_FALSE(session->Input(1).ok());
  EXPECT_FALSE(session->Value("r").ok());
  EXPECT_EQ(session->memory_info().scratch, 16u);
}

TEST(CppApi, ResizesAndBinds) {
  Files files(DynamicModel());
  auto engine = lathe::Engine::Create(lathe_api_test_a(), files.options);
  ASSERT_TRUE(engine.ok());
  auto session = engine->CreateSession();
  ASSERT_TRUE(session->Resize({{1, 3}}).ok());
  const lathe::Status refused = session->Resize({{1, 4}});
  EXPECT_EQ(refused.code(), LATHE_INVALID_ARGUMENT);
  EXPECT_EQ(refused.message(), "dimension 1 of input 'x' is 4, it must be 3");
  const std::vector<float> x = {-1, 0, 1};
  std::vector<float> y(3);
  EXPECT_TRUE(session->BindInput(0, x.data(), 12).ok());
  EXPECT_TRUE(session->BindOutput(0, y.data(), 12).ok());
  EXPECT_TRUE(session->Run().ok());
  EXPECT_EQ(y, (std::vector<float>{0, 0, 1}));
}

TEST(CppApi, KeepsAliveWhatItNeeds) {
  Files files(ChainModel());
  auto session = [&]() -> lathe::Result<lathe::Session> {
    auto pool = lathe::Pool::Create(lathe_api_test_a(), 2);
    files.options.pool = &*pool;
    auto engine = lathe::Engine::Create(lathe_api_test_a(), files.options);
    lathe::Engine moved = std::move(*engine);
    return moved.CreateSession({/*keep_all=*/true});
  }();
  ASSERT_TRUE(session.ok());
  EXPECT_TRUE(session->Run().ok());
  EXPECT_TRUE(session->Value("Relu:0").ok());
}

TEST(CppApi, ModelsWithoutPartsForAGpuSaySo) {
  Files files(ChainModel());
  files.options.device.kind = lathe::DeviceKind::kGpu;
  files.options.device.binary_paths = {"/none"};
  const auto engine = lathe::Engine::Create(lathe_api_test_a(), files.options);
  ASSERT_TRUE(engine.ok()) << engine.status().message();
  EXPECT_FALSE(engine->device_info().has_parts());
  const auto programs = engine->device_data(LATHE_DEVICE_DATA_PROGRAMS);
  ASSERT_TRUE(programs.ok());
  EXPECT_EQ((*programs).size, 0u);
}

TEST(CppApi, TellsWhatIsWrong) {
  Files files(ChainModel());
  auto wrong = lathe::Engine::Create(lathe_api_test_b(), files.options);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.status().code(), LATHE_UNSUPPORTED);
  EXPECT_EQ(wrong.status().message(),
            "model 'chain': node 'scale1' needs a kernel of operator 'scale', of which library 'test_b' holds none for "
            "this machine; "
            "build the library with this model");
  EXPECT_FALSE(lathe::Engine::Create(nullptr).ok());
}

TEST(TwoLibraries, LiveInOneProgram) {
  const lathe_api* a = lathe_api_test_a();
  const lathe_api* b = lathe_api_test_b();
  EXPECT_STREQ(a->library, "test_a");
  EXPECT_STREQ(b->library, "test_b");
  EXPECT_EQ(a->kernel_count(), 24u);
  EXPECT_EQ(b->kernel_count(), 1u);
  ASSERT_EQ(b->model_count(), 1u);
  EXPECT_STREQ(b->model_at(0)->name, "echo");
  auto engine = lathe::Engine::Create(b);
  ASSERT_TRUE(engine.ok()) << engine.status().message();
  auto session = engine->CreateSession();
  ASSERT_TRUE(session.ok());
  auto x = session->Input(0);
  std::fill_n(x->data<float>(), 4, 3.0f);
  ASSERT_TRUE(session->Run().ok());
  EXPECT_EQ(session->Output(0)->data<float>()[2], 3.0f);
}

TEST(CppApiDeathTest, ResultsWithoutAValueEndTheProgramWithTheirStatus) {
  lathe::Result<int> failed = lathe::Status(LATHE_IO, "cannot open digits.pb");
  const char* said = "a Result was read that has no value: cannot open digits.pb";
  EXPECT_DEATH(*failed, said);
  EXPECT_DEATH(*std::move(failed), said);
  lathe::Result<std::string> text = lathe::Status(LATHE_IO, "cannot open digits.pb");
  EXPECT_DEATH(text->size(), said);
  EXPECT_EQ(*lathe::Result<int>(7), 7);
}

}  // namespace
}  // namespace lathe_test
