// Engines and sessions through the C table, with the kernels of test_kernels.cc.
#include <gtest/gtest.h>
#include <string.h>

#include "native/tests/engine_fixture.h"

namespace lathe_test {
namespace {

TEST(Session, RunsAChain) {
  ModelBuilder model = ChainModel();
  Loaded loaded(model);
  ASSERT_TRUE(loaded.session) << loaded.message();
  const std::vector<float> y = loaded.Run({1, -2, 3, -4});
  EXPECT_EQ(y, (std::vector<float>{7, 1, 19, 1}));  // relu(x) * 2 * 3 + 1
  lathe_memory_info memory = {};
  memory.struct_size = sizeof(memory);
  loaded.api->memory_info(loaded.session, &memory);
  EXPECT_EQ(memory.weights_mapped + memory.weights_allocated, 20u + 4u);
  EXPECT_GE(memory.arena, 64u);
  EXPECT_EQ(memory.scratch, 16u);
}

TEST(Session, BindsBuffersInPlaceAndThroughCopies) {
  ModelBuilder model = ChainModel();
  Loaded loaded(model);
  ASSERT_TRUE(loaded.session) << loaded.message();
  alignas(64) float storage[64] = {};
  for (const int shift : {0, 1}) {
    float* x = storage + shift;
    float* y = storage + 32 + shift;
    for (int i = 0; i < 4; ++i) x[i] = static_cast<float>(i - 1);
    ASSERT_EQ(loaded.api->bind_input(loaded.session, 0, x, 16, &loaded.error), LATHE_OK);
    ASSERT_EQ(loaded.api->bind_output(loaded.session, 0, y, 16, &loaded.error), LATHE_OK);
    ASSERT_EQ(loaded.api->run(loaded.session, &loaded.error), LATHE_OK);
    EXPECT_EQ(std::vector<float>(y, y + 4), (std::vector<float>{1, 1, 7, 13}));
    EXPECT_EQ(x[0], -1.0f) << "the caller's input is left alone";
  }
  EXPECT_EQ(loaded.api->bind_input(loaded.session, 0, storage, 12, &loaded.error), LATHE_INVALID_ARGUMENT);
  EXPECT_STREQ(loaded.error.message, "input 'x' has 16 bytes, the buffer given has 12");
  ASSERT_EQ(loaded.api->bind_input(loaded.session, 0, nullptr, 0, &loaded.error), LATHE_OK);
  ASSERT_EQ(loaded.api->bind_output(loaded.session, 0, nullptr, 0, &loaded.error), LATHE_OK);
  EXPECT_EQ(loaded.Run({1, 1, 1, 1}), (std::vector<float>{7, 7, 7, 7}));
}

TEST(Session, WritesIntoABoundBufferWithoutACopy) {
  Loaded loaded(ChainModel());
  ASSERT_TRUE(loaded.session) << loaded.message();
  const std::vector<float> own = loaded.Run({1, 1, 1, 1});
  const void* before = nullptr;
  const void* after = nullptr;
  size_t bytes = 0;
  ASSERT_EQ(loaded.api->output_data(loaded.session, 0, &before, &bytes, &loaded.error), LATHE_OK);
  alignas(64) float x[16] = {2, 2, 2, 2}, y[16] = {};
  ASSERT_EQ(loaded.api->bind_input(loaded.session, 0, x, 16, &loaded.error), LATHE_OK);
  ASSERT_EQ(loaded.api->bind_output(loaded.session, 0, y, 16, &loaded.error), LATHE_OK);
  ASSERT_EQ(loaded.api->run(loaded.session, &loaded.error), LATHE_OK);
  ASSERT_EQ(loaded.api->output_data(loaded.session, 0, &after, &bytes, &loaded.error), LATHE_OK);
  EXPECT_EQ(after, y);
  EXPECT_NE(before, y);
  EXPECT_EQ(std::vector<float>(y, y + 4), (std::vector<float>{13, 13, 13, 13}));
  EXPECT_EQ(own, (std::vector<float>{7, 7, 7, 7}));
}

TEST(Session, OutputsMayBeInputsConstantsAndRepeated) {
  ModelBuilder model("pass");
  const uint32_t x = model.Input(model.Value("x", {2}));
  const uint32_t c = model.Floats("c", {2}, {5, 6});
  const uint32_t y = model.Value("y", {2});
  model.Node("add", "sum", {x, c}, {y});
  for (const uint32_t output : {x, c, y, y}) model.Output(output);
  Loaded loaded(model);
  ASSERT_TRUE(loaded.session) << loaded.message();
  alignas(64) float first[16] = {}, second[16] = {}, through[16] = {}, constant[16] = {};
  EXPECT_EQ(loaded.Run({1, 2}, 2), (std::vector<float>{6, 8}));
  EXPECT_EQ(loaded.Run({1, 2}, 0), (std::vector<float>{1, 2}));
  EXPECT_EQ(loaded.Run({1, 2}, 1), (std::vector<float>{5, 6}));
  const auto bind = [&](size_t index, float* data) {
    return loaded.api->bind_output(loaded.session, index, data, 8, &loaded.error);
  };
  ASSERT_EQ(bind(0, through) | bind(1, constant) | bind(2, first) | bind(3, second), LATHE_OK);
  EXPECT_EQ(loaded.Run({3, 4}, 3), (std::vector<float>{8, 10}));
  EXPECT_EQ(first[1], 10);
  EXPECT_EQ(second[1], 10);
  EXPECT_EQ(through[1], 4);
  EXPECT_EQ(constant[1], 6);
}

TEST(Session, ResizesWithinBounds) {
  ModelBuilder model = DynamicModel();
  Loaded loaded(model);
  ASSERT_TRUE(loaded.session) << loaded.message();
  lathe_tensor_info info = {};
  info.struct_size = sizeof(info);
  ASSERT_EQ(loaded.api->output_info(loaded.session, 0, &info, &loaded.error), LATHE_OK);
  EXPECT_EQ(info.dims[0], 24);  // 8 * 3, flattened
  EXPECT_EQ(info.dims_max[0], 24);
  EXPECT_EQ(info.dims_min[0], 3);
  lathe_shape shape = {2, {2, 3}};
  ASSERT_EQ(loaded.api->resize(loaded.session, 1, &shape, &loaded.error), LATHE_OK) << loaded.error.message;
  EXPECT_EQ(loaded.Run({1, -1, 2, -2, 3, -3}), (std::vector<float>{1, 0, 2, 0, 3, 0}));
  shape.dims[0] = 9;
  EXPECT_EQ(loaded.api->resize(loaded.session, 1, &shape, &loaded.error), LATHE_INVALID_ARGUMENT);
  EXPECT_STREQ(loaded.error.message, "dimension 0 of input 'x' is 9, allowed is 1 to 8");
  EXPECT_EQ(loaded.Run({1, -1, 2, -2, 3, -3}).size(), 6u) << "a refused resize changes nothing";
  shape = {2, {2, 4}};
  EXPECT_EQ(loaded.api->resize(loaded.session, 1, &shape, &loaded.error), LATHE_INVALID_ARGUMENT);
  shape = {1, {2}};
  EXPECT_EQ(loaded.api->resize(loaded.session, 1, &shape, &loaded.error), LATHE_INVALID_ARGUMENT);
  EXPECT_EQ(loaded.api->resize(loaded.session, 0, nullptr, &loaded.error), LATHE_INVALID_ARGUMENT);
}

TEST(Session, KeepsAllValuesOnRequest) {
  ModelBuilder model = ChainModel();
  for (const uint32_t flags : {0u, uint32_t{LATHE_SESSION_KEEP_ALL}}) {
    Loaded loaded(model, flags);
    ASSERT_TRUE(loaded.session) << loaded.message();
    loaded.Run({1, -2, 3, -4});
    lathe_tensor_info info = {};
    info.struct_size = sizeof(info);
    const void* data = nullptr;
    EXPECT_EQ(loaded.api->value(loaded.session, "y", &info, &data, &loaded.error), LATHE_OK);
    EXPECT_EQ(loaded.api->value(loaded.session, "nothing", &info, &data, &loaded.error), LATHE_INVALID_ARGUMENT);
    const lathe_code code = loaded.api->value(loaded.session, "Relu:0", &info, &data, &loaded.error);
    if (flags == 0) {
      EXPECT_EQ(code, LATHE_INVALID_ARGUMENT);
      continue;
    }
    ASSERT_EQ(code, LATHE_OK) << loaded.error.message;
    EXPECT_STREQ(info.name, "r");
    EXPECT_EQ(static_cast<const float*>(data)[2], 3);
    EXPECT_EQ(static_cast<const float*>(data)[3], 0);
    ASSERT_EQ(loaded.api->value_count(loaded.engine), 6u);
    ASSERT_EQ(loaded.api->value_at(loaded.session, 1, &info, &data, &loaded.error), LATHE_OK);
    EXPECT_STREQ(info.name, "r");
    EXPECT_EQ(static_cast<const float*>(data)[2], 3);
    EXPECT_EQ(loaded.api->value_at(loaded.session, 6, &info, &data, &loaded.error), LATHE_INVALID_ARGUMENT);
  }
}

TEST(Session, TellsTheObserver) {
  ModelBuilder model = ChainModel();
  Loaded loaded(model);
  ASSERT_TRUE(loaded.session) << loaded.message();
  std::vector<std::string> seen;
  const auto observer = [](void* user, const lathe_node_event* event) {
    EXPECT_LE(event->start_ns, event->end_ns);
    static_cast<std::vector<std::string>*>(user)->push_back(std::string(event->name) + " " + event->kernel);
  };
  loaded.api->set_observer(loaded.session, observer, &seen);
  loaded.Run({1, 2, 3, 4});
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[1], "scale1 scale_f32_test__portable");
}

TEST(Engine, TellsWhatItsNodesAre) {
  ModelBuilder model = ChainModel();
  model.Node("pick", "pick1", {0}, {model.Value("unread", {4})}, {IntAttr("mode", 2), IntsAttr("sizes", {7, 8})});
  Loaded loaded(model);
  ASSERT_TRUE(loaded.session) << loaded.message();
  lathe_node_info info = {};
  info.struct_size = sizeof(info);
  ASSERT_EQ(loaded.api->node_at(loaded.engine, 1, &info, &loaded.error), LATHE_OK);
  EXPECT_EQ(std::string(info.op) + " " + info.name + " " + info.kernel, "scale scale1 scale_f32_test__portable");
  ASSERT_EQ(info.input_count, 2u);
  EXPECT_EQ(info.inputs[1], 2u);
  ASSERT_EQ(info.output_count, 1u);
  EXPECT_EQ(info.outputs[0], 3u);
  EXPECT_EQ(loaded.api->node_at(loaded.engine, 4, &info, &loaded.error), LATHE_INVALID_ARGUMENT);

  size_t count = 0;
  const int64_t* sizes = loaded.api->node_numbers(loaded.engine, 3, "sizes", &count);
  ASSERT_TRUE(sizes != nullptr && count == 2);
  EXPECT_EQ(sizes[1], 8);
  const int64_t* mode = loaded.api->node_numbers(loaded.engine, 3, "mode", &count);
  ASSERT_TRUE(mode != nullptr && count == 1);
  EXPECT_EQ(*mode, 2);
  EXPECT_EQ(loaded.api->node_numbers(loaded.engine, 1, "factor", &count), nullptr);  // no whole number
  EXPECT_EQ(loaded.api->node_numbers(loaded.engine, 1, "mode", &count), nullptr);
}

TEST(Engine, TriesKernelsInOrder) {
  for (const int mode : {1, 2}) {
    ModelBuilder model = PickModel(mode);
    Loaded loaded(model);
    ASSERT_TRUE(loaded.session) << loaded.message();
    EXPECT_EQ(loaded.Run({0})[0], static_cast<float>(mode));
  }
  ModelBuilder model = PickModel(9);
  Loaded loaded(model);
  EXPECT_EQ(loaded.error.code, LATHE_UNSUPPORTED);
  EXPECT_NE(loaded.message().find("'pick_f32_second__portable', says: node 'n' (pick): mode 9"), std::string::npos)
      << loaded.message();
}

TEST(Engine, NamesWhatIsMissing) {
  ModelBuilder model("m");
  const uint32_t x = model.Input(model.Value("x", {1}));
  const uint32_t y = model.Value("y", {1});
  model.Node("erf", "e1", {x}, {y});
  model.Output(y);
  Loaded portable(model);
  EXPECT_EQ(portable.error.code, LATHE_UNSUPPORTED);
  EXPECT_EQ(portable.message(),
            "model 'm': node 'e1' needs a kernel of operator 'erf', of which library 'test_a' holds "
            "none for this machine; build the library with this model");
  model.Kernel("erf_f32_fast__portable");
  model.Place(x, 0, 4);
  model.Place(y, 64, 4);
  model.arena_size = 128;
  Loaded planned(model);
  EXPECT_EQ(planned.error.code, LATHE_UNSUPPORTED);
  EXPECT_NE(
      planned.message().find("is planned for kernel 'erf_f32_fast__portable', which library 'test_a' does not hold"),
      std::string::npos);
}

TEST(Engine, RefusesRegionsWhereTheOperatorHasNone) {
  ModelBuilder model("loops");
  const uint32_t x = model.Input(model.Value("x", {1}));
  const uint32_t inner = model.Value("inner", {1});
  const uint32_t y = model.Value("y", {1});
  model.Node("relu", "r", {x}, {y}, {}, {RegionBytes({inner}, {inner}, {})});
  model.Output(y);
  Loaded loaded(model);
  EXPECT_EQ(loaded.error.code, LATHE_BAD_MODEL);
  EXPECT_EQ(loaded.message(), "bad model: node 'r' (relu) has 1 regions, its operator 0");
}

TEST(Engine, UsesTheStoredPlan) {
  ModelBuilder model("planned");
  const uint32_t x = model.Input(model.Value("x", {4}));
  const uint32_t v = model.Value("v", {2, 2});
  const uint32_t r = model.Value("r", {2, 2});
  model.Node("view", "v", {x}, {v}, {DimsAttr("shape", {2, 2})});
  model.Node("relu", "r", {v}, {r});
  model.Output(r);
  model.Kernel("view_f32_test__portable");
  model.Kernel("relu_f32_test__portable");
  ModelBuilder overlap = model, outside = model;
  model.Place(x, 64, 16);
  model.Place(v, 64, 16);  // a view of an input shares its memory
  model.Place(r, 0, 16);
  model.arena_size = 128;
  Loaded loaded(model);
  ASSERT_TRUE(loaded.session) << loaded.message();
  EXPECT_EQ(loaded.Run({1, -1, 2, -2}), (std::vector<float>{1, 0, 2, 0}));
  lathe_memory_info memory = {};
  memory.struct_size = sizeof(memory);
  loaded.api->memory_info(loaded.session, &memory);
  EXPECT_EQ(memory.arena, 128u);

  overlap.Place(x, 0, 80);
  overlap.Place(v, 64, 16);
  overlap.Place(r, 128, 16);
  overlap.arena_size = 192;
  // x really has 16 bytes, so that is no overlap yet; the same place for x and something that is not made in place is.
  EXPECT_TRUE(Loaded(overlap).session);
  outside.Place(x, 0, 16);
  outside.Place(v, 64, 16);
  outside.arena_size = 128;
  Loaded missing(outside);
  EXPECT_EQ(missing.error.code, LATHE_BAD_MODEL);
  EXPECT_EQ(missing.message(), "bad model: the plan has no place for value 'r'");
}

TEST(Engine, RefusesPlansThatOverlap) {
  ModelBuilder model("overlap");
  const uint32_t x = model.Input(model.Value("x", {4}));
  const uint32_t c = model.Floats("c", {1}, {2});
  const uint32_t s = model.Value("s", {4});
  model.Node("scale", "s", {x, c}, {s}, {FloatAttr("factor", 1)});
  model.Output(s);
  model.Kernel("scale_f32_test__portable");
  model.Place(x, 0, 16);
  model.Place(s, 0, 16);
  model.arena_size = 64;
  Loaded loaded(model);
  EXPECT_EQ(loaded.error.code, LATHE_BAD_MODEL);
  EXPECT_EQ(loaded.message(),
            "bad model: the plan puts value 's' where another one is still needed, or not at a multiple of 64");
}

TEST(Engine, ExpandsHalves) {
  ModelBuilder model("halves");
  const uint16_t f16[] = {0x3c00, 0xc000, 0x0001, 0x7c00};   // 1, -2, 2^-24, infinity
  const uint16_t bf16[] = {0x3f80, 0xc000, 0x0001, 0x7f80};  // 1, -2, tiny, infinity
  const uint32_t x = model.Input(model.Value("x", {4}));
  const auto bytes = [](const uint16_t* halves) { return std::string(reinterpret_cast<const char*>(halves), 8); };
  model.Output(model.Constant("a", {4}, bytes(f16), 1, 2));
  model.Output(model.Constant("b", {4}, bytes(bf16), 1, 3));
  (void)x;
  Loaded loaded(model);
  ASSERT_TRUE(loaded.session) << loaded.message();
  EXPECT_EQ(loaded.Run({0, 0, 0, 0}, 0), (std::vector<float>{1, -2, 5.9604644775390625e-8f, INFINITY}));
  EXPECT_EQ(loaded.Run({0, 0, 0, 0}, 1)[1], -2);
  lathe_memory_info memory = {};
  memory.struct_size = sizeof(memory);
  loaded.api->memory_info(loaded.session, &memory);
  EXPECT_EQ(memory.weights_allocated, 32u);
  EXPECT_EQ(memory.weights_mapped, 0u);
}

TEST(Engine, UsesAlignedConstantsWhereTheyLie) {
  const ModelBuilder built = ChainModel();
  const std::string graph = built.Model();
  ASSERT_LE(built.data().size(), 192u);
  for (const size_t shift : {0, 4}) {
    alignas(64) char data[256] = {};
    memcpy(data + shift, built.data().data(), built.data().size());
    lathe_engine_options options = {};
    options.struct_size = sizeof(options);
    options.num_threads = 1;
    options.model = {graph.data(), graph.size()};
    options.data = {data + shift, built.data().size()};
    const lathe_api* api = lathe_api_test_a();
    lathe_engine* engine = nullptr;
    lathe_session* session = nullptr;
    lathe_error error = {};
    ASSERT_EQ(api->engine_create(&options, &engine, &error), LATHE_OK) << error.message;
    ASSERT_EQ(api->session_create(engine, nullptr, &session, &error), LATHE_OK) << error.message;
    lathe_memory_info memory = {};
    memory.struct_size = sizeof(memory);
    api->memory_info(session, &memory);
    EXPECT_EQ(memory.weights_mapped, shift == 0 ? 20u : 0u);
    EXPECT_EQ(memory.weights_allocated, shift == 0 ? 4u : 24u) << "what is packed, and what is not aligned";
    api->session_destroy(session);
    api->engine_destroy(engine);
  }
}

TEST(Api, ChecksItsArguments) {
  const lathe_api* api = lathe_api_test_a();
  EXPECT_EQ(api->struct_size, sizeof(lathe_api));
  EXPECT_EQ(api->kernel_count(), 24u);
  EXPECT_STREQ(api->kernel_name(0), "relu_f32_test__portable");
  EXPECT_EQ(api->kernel_name(24), nullptr);
  EXPECT_EQ(api->model_at(0), nullptr);
  lathe_engine* engine = nullptr;
  lathe_error error;
  lathe_engine_options options = {};
  EXPECT_EQ(api->engine_create(nullptr, &engine, &error), LATHE_INVALID_ARGUMENT);
  EXPECT_EQ(api->engine_create(&options, &engine, nullptr), LATHE_INVALID_ARGUMENT);
  options.struct_size = sizeof(options);
  EXPECT_EQ(api->engine_create(&options, &engine, &error), LATHE_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "library 'test_a' holds 0 models: give a model file or the name of a model");
  options.model_path = "/nowhere/model.pb";
  EXPECT_EQ(api->engine_create(&options, &engine, &error), LATHE_IO);
  options.model_path = "/";
  EXPECT_EQ(api->engine_create(&options, &engine, &error), LATHE_IO);
  api->engine_destroy(nullptr);
  api->session_destroy(nullptr);
  api->pool_destroy(nullptr);
}

}  // namespace
}  // namespace lathe_test
