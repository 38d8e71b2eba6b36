// Sizes that only the data decides: what stands behind them follows at every run, in the memory of the largest ones.
#include <gtest/gtest.h>
#include <stdlib.h>

#include "native/tests/engine_fixture.h"

namespace lathe_test {
namespace {

using Floats = std::vector<float>;

// k = the positive numbers of x[n], y = relu(k) * 2 * 3, v = y as a column, e = the positive numbers of y, z = e + e.
ModelBuilder KeepModel() {
  ModelBuilder model("keep");
  const uint32_t n = model.Symbol("n", 1, 6);
  const uint32_t first = model.Symbol("first", 0, 6);
  const uint32_t second = model.Symbol("second", 0, 6);
  const DimArg all = model.Expr({Sym(n)});
  const DimArg kept = model.Expr({Sym(first)});
  const DimArg again = model.Expr({Sym(second)});
  const uint32_t x = model.Input(model.Value("x", {all}));
  const uint32_t w = model.Floats("w", {1}, {3});
  const uint32_t k = model.Value("k", {kept});
  const uint32_t r = model.Value("r", {kept});
  const uint32_t y = model.Value("y", {kept});
  const uint32_t v = model.Value("v", {kept, 1});
  const uint32_t e = model.Value("e", {again});
  const uint32_t z = model.Value("z", {again});
  model.Node("keep", "keep1", {x}, {k});
  model.Node("relu", "relu1", {k}, {r});
  model.Node("scale", "scale1", {r, w}, {y}, {FloatAttr("factor", 2)});
  model.Node("view", "view1", {y}, {v}, {DimsAttr("shape", {kept, 1})});
  model.Node("keep", "keep2", {y}, {e});
  model.Node("add", "add1", {e, e}, {z});
  for (const uint32_t output : {v, z}) model.Output(output);
  return model;
}

lathe_tensor_info OutputInfo(Loaded& loaded, size_t index) {
  lathe_tensor_info info = {};
  info.struct_size = sizeof(info);
  EXPECT_EQ(loaded.api->output_info(loaded.session, index, &info, &loaded.error), LATHE_OK);
  return info;
}

TEST(DataSizes, FollowTheDataOfEveryRun) {
  Loaded loaded(KeepModel());
  ASSERT_TRUE(loaded.session) << loaded.message();
  EXPECT_EQ(OutputInfo(loaded, 0).dims[0], 6) << "the largest size before the first run";
  EXPECT_EQ(loaded.Run({1, -1, 2, -2, 3, -3}), (Floats{6, 12, 18}));
  const lathe_tensor_info info = OutputInfo(loaded, 0);
  EXPECT_EQ(info.rank, 2u);
  EXPECT_EQ(info.dims[0], 3);
  EXPECT_EQ(info.dims_max[0], 6);
  EXPECT_EQ(info.bytes, 12u);
  EXPECT_EQ(loaded.Run({1, 2, 3, 4, 5, 6}), (Floats{6, 12, 18, 24, 30, 36})) << "more than the run before";
  EXPECT_EQ(loaded.Run({-1, -2, -3, -4, -5, -6}), Floats());
  EXPECT_EQ(loaded.Run({-1, -2, -3, -4, -5, 6}, 1), (Floats{72}));
}

TEST(DataSizes, GoTogetherWithSizesOfInputs) {
  Loaded loaded(KeepModel());
  ASSERT_TRUE(loaded.session) << loaded.message();
  for (const int64_t size : {2, 5, 6, 1}) {
    const lathe_shape shape = {1, {size}};
    ASSERT_EQ(loaded.api->resize(loaded.session, 1, &shape, &loaded.error), LATHE_OK) << loaded.message();
    EXPECT_EQ(OutputInfo(loaded, 1).dims[0], 6) << "a resize forgets what the last run found";
    Floats x(static_cast<size_t>(size), -1.0f);
    x.back() = 1;
    EXPECT_EQ(loaded.Run(x, 1), (Floats{12}));
  }
}

TEST(DataSizes, BindBuffersOfTheLargestSize) {
  Loaded loaded(KeepModel());
  ASSERT_TRUE(loaded.session) << loaded.message();
  alignas(64) float buffer[16 + 7] = {};
  for (float* y : {buffer, buffer + 1}) {
    for (int round = 0; round < 2; ++round) {
      ASSERT_EQ(loaded.api->bind_output(loaded.session, 0, y, 24, &loaded.error), LATHE_OK) << loaded.message();
      loaded.Run({-1, 4, -1, -1, 5, -1});
      EXPECT_EQ(Floats(y, y + 2), (Floats{24, 30}));
    }
    EXPECT_EQ(loaded.api->bind_output(loaded.session, 0, y, 8, &loaded.error), LATHE_INVALID_ARGUMENT);
  }
}

TEST(DataSizes, AllocateNothing) {
  int calls = 0;
  const lathe_allocator allocator = {[](void* user, size_t size) {
                                       ++*static_cast<int*>(user);
                                       void* memory = nullptr;
                                       return posix_memalign(&memory, 64, size) == 0 ? memory : nullptr;
                                     },
                                     [](void*, void* memory) { free(memory); }, &calls};
  Loaded loaded(KeepModel(), 0, &allocator);
  ASSERT_TRUE(loaded.session) << loaded.message();
  const int before = calls;
  loaded.Run({1, -1, 2, -2, 3, -3});
  loaded.Run({1, 2, 3, 4, 5, 6});
  EXPECT_EQ(calls, before);
}

TEST(DataSizes, NeedRoomForAll) {
  ModelBuilder model("small");
  const DimArg kept = model.Expr({Sym(model.Symbol("kept", 0, 3))});
  const uint32_t x = model.Input(model.Value("x", {4}));
  const uint32_t k = model.Value("k", {kept});
  model.Node("keep", "keep1", {x}, {k});
  model.Output(k);
  Loaded loaded(model);
  EXPECT_EQ(loaded.session, nullptr);
  EXPECT_NE(loaded.message().find("no room"), std::string::npos) << loaded.message();
}

}  // namespace
}  // namespace lathe_test
