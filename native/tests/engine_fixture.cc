#include "native/tests/engine_fixture.h"

#include <gtest/gtest.h>
#include <string.h>

namespace lathe_test {

ModelBuilder ChainModel() {
  ModelBuilder model("chain");
  const uint32_t x = model.Input(model.Value("x", {4}));
  const uint32_t r = model.Value("r", {4}, 1, {"Relu:0", "act"});
  const uint32_t w = model.Floats("w", {1}, {3});
  const uint32_t s = model.Value("s", {4});
  const uint32_t one = model.Floats("one", {4}, {1, 1, 1, 1});
  const uint32_t y = model.Value("y", {4});
  model.Node("relu", "relu1", {x}, {r});
  model.Node("scale", "scale1", {r, w}, {s}, {FloatAttr("factor", 2)});
  model.Node("add", "add1", {s, one}, {y});
  model.Output(y);
  return model;
}

ModelBuilder DynamicModel() {
  ModelBuilder model("dynamic");
  const uint32_t n = model.Symbol("n", 1, 8);
  const DimArg rows = model.Expr({Sym(n)});
  const DimArg flat = model.Expr({Sym(n), Push(3), kMul});
  const uint32_t x = model.Input(model.Value("x", {rows, 3}));
  const uint32_t r = model.Value("r", {rows, 3});
  const uint32_t y = model.Value("y", {flat});
  model.Node("relu", "r", {x}, {r});
  model.Node("view", "v", {r}, {y}, {DimsAttr("shape", {flat})});
  model.Output(y);
  return model;
}

ModelBuilder PickModel(int mode) {
  ModelBuilder model("pick");
  const uint32_t x = model.Input(model.Value("x", {1}));
  const uint32_t y = model.Value("y", {1});
  model.Node("pick", "n", {x}, {y}, {IntAttr("mode", mode)});
  model.Output(y);
  return model;
}

Loaded::Loaded(const ModelBuilder& builder, uint32_t flags, const lathe_allocator* allocator, int threads)
    : Loaded(builder.Model(), builder.data(), flags, allocator, threads) {}

Loaded::Loaded(const std::string& model_bytes, const std::string& data_bytes, uint32_t flags,
               const lathe_allocator* allocator, int threads)
    : model(model_bytes), data(data_bytes) {
  lathe_engine_options options = {};
  options.struct_size = sizeof(options);
  options.num_threads = threads;
  options.model = {model.data(), model.size()};
  options.data = {data.data(), data.size()};
  options.allocator = allocator;
  if (api->engine_create(&options, &engine, &error) != LATHE_OK) return;
  const lathe_session_options session_options = {sizeof(session_options), flags};
  api->session_create(engine, &session_options, &session, &error);
}

Loaded::~Loaded() {
  api->session_destroy(session);
  api->engine_destroy(engine);
}

std::vector<float> Loaded::Run(const std::vector<float>& x, size_t output) {
  void* input = nullptr;
  size_t bytes = 0;
  EXPECT_EQ(api->input_data(session, 0, &input, &bytes, &error), LATHE_OK) << error.message;
  EXPECT_EQ(bytes, x.size() * sizeof(float));
  if (!x.empty()) memcpy(input, x.data(), x.size() * sizeof(float));
  EXPECT_EQ(api->run(session, &error), LATHE_OK) << error.message;
  const void* result = nullptr;
  EXPECT_EQ(api->output_data(session, output, &result, &bytes, &error), LATHE_OK) << error.message;
  std::vector<float> y(bytes / sizeof(float));
  if (!y.empty()) memcpy(y.data(), result, y.size() * sizeof(float));
  return y;
}

}  // namespace lathe_test
