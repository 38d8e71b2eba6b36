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

ModelBuilder LoopModel(int most, bool planned, uint64_t sum_offset) {
  constexpr uint32_t kS64 = 11, kBool = 13;
  ModelBuilder model("loop");
  const DimArg iterations = model.Expr({Sym(model.Symbol("iterations", 0, static_cast<uint32_t>(most)))});
  const uint32_t x = model.Input(model.Value("x", {4}));
  const uint32_t trips = model.Input(model.Value("trips", {1}, kS64));
  const uint32_t yes = model.Constant("yes", {}, "\1", kBool, kBool);
  const uint32_t w = model.Floats("w", {1}, {1});
  const uint32_t size = model.Value("size", {4});
  const uint32_t number = model.Value("number", {}, kS64);
  const uint32_t carried = model.Value("carried", {4});
  const uint32_t sum = model.Value("sum", {4});
  const uint32_t goes_on = model.Value("goes_on", {}, kBool);
  const uint32_t y = model.Value("y", {4});
  const uint32_t all = model.Value("all", {iterations, 4});
  const std::string body = RegionBytes({number, carried}, {goes_on, sum, sum},
                                       {NodeBytes("add", "add1", {carried, size}, {sum}),
                                        NodeBytes("below", "below1", {sum}, {goes_on}, {FloatAttr("limit", 100)})});
  model.Node("scale", "scale1", {x, w}, {size}, {FloatAttr("factor", 1)});
  model.Node("loop", "loop1", {trips, yes, x}, {y, all}, {DimsAttr("most", {most}), DimsAttr("size", {iterations})},
             {body});
  for (const uint32_t output : {y, all}) model.Output(output);
  if (!planned) return model;
  for (const char* kernel :
       {"scale_f32_test__portable", "loop_any_generic__portable", "add_f32_test__portable", "below_f32_test__portable"})
    model.Kernel(kernel);
  const uint64_t room = static_cast<uint64_t>(most) * 16;
  const uint32_t values[] = {x, trips, size, number, carried, goes_on, y};
  const uint64_t sizes[] = {16, 8, 16, 8, 16, 1, 16};
  const uint64_t offsets[] = {0, 64, 128, 192, 256, 320, 448};
  for (size_t i = 0; i < 7; ++i) model.Place(values[i], offsets[i], sizes[i]);
  model.Place(sum, sum_offset, 16);
  model.Place(all, 512, room);
  model.arena_size = 512 + room;
  return model;
}

Loaded::Loaded(const ModelBuilder& builder, uint32_t flags, const lathe_allocator* allocator, int threads,
               const char* isa_limit)
    : Loaded(builder.Model(), builder.data(), flags, allocator, threads, isa_limit) {}

Loaded::Loaded(const std::string& model_bytes, const std::string& data_bytes, uint32_t flags,
               const lathe_allocator* allocator, int threads, const char* isa_limit)
    : model(model_bytes), data(data_bytes) {
  lathe_engine_options options = {};
  options.struct_size = sizeof(options);
  options.num_threads = threads;
  options.model = {model.data(), model.size()};
  options.data = {data.data(), data.size()};
  options.allocator = allocator;
  options.isa_limit = isa_limit;
  if (api->engine_create(&options, &engine, &error) != LATHE_OK) return;
  const lathe_session_options session_options = {sizeof(session_options), flags};
  api->session_create(engine, &session_options, &session, &error);
}

Loaded::~Loaded() {
  api->session_destroy(session);
  api->engine_destroy(engine);
}

void Loaded::Write(size_t index, const void* from, size_t size) {
  void* to = nullptr;
  size_t bytes = 0;
  EXPECT_EQ(api->input_data(session, index, &to, &bytes, &error), LATHE_OK) << error.message;
  ASSERT_EQ(bytes, size);
  memcpy(to, from, size);
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
