// Branches and loops: what their kernels are given, where values stand, what is refused.
#include <gtest/gtest.h>

#include "native/tests/engine_fixture.h"

namespace lathe_test {
namespace {

using Floats = std::vector<float>;
constexpr uint32_t kF32 = 1, kS64 = 11, kBool = 13;

Floats RunLoop(Loaded& loaded, int64_t trips, const Floats& x, size_t output) {
  loaded.Write(1, &trips, sizeof(trips));
  return loaded.Run(x, output);
}

lathe_tensor_info OutputInfo(Loaded& loaded, size_t index) {
  lathe_tensor_info info = {};
  info.struct_size = sizeof(info);
  EXPECT_EQ(loaded.api->output_info(loaded.session, index, &info, &loaded.error), LATHE_OK);
  return info;
}

TEST(Loop, CarriesAndScans) {
  for (const bool planned : {false, true}) {
    for (const uint32_t flags : {0u, uint32_t{LATHE_SESSION_KEEP_ALL}}) {
      Loaded loaded(LoopModel(5, planned), flags);
      ASSERT_TRUE(loaded.session) << loaded.message();
      EXPECT_EQ(RunLoop(loaded, 2, {1, 2, 3, 4}, 0), (Floats{3, 6, 9, 12}));
      EXPECT_EQ(RunLoop(loaded, 2, {1, 2, 3, 4}, 1), (Floats{2, 4, 6, 8, 3, 6, 9, 12}));
      EXPECT_EQ(OutputInfo(loaded, 1).dims[0], 2);
      EXPECT_EQ(OutputInfo(loaded, 1).dims_max[0], 5);
      EXPECT_EQ(RunLoop(loaded, 0, {1, 2, 3, 4}, 0), (Floats{1, 2, 3, 4})) << "nothing runs";
      EXPECT_EQ(RunLoop(loaded, -7, {1, 2, 3, 4}, 1), Floats());
      EXPECT_EQ(RunLoop(loaded, 4, {1, 1, 1, 1}, 0), (Floats{5, 5, 5, 5})) << "more than the run before";
    }
  }
}

TEST(Loop, NeverRunsMoreOftenThanPlanned) {
  Loaded loaded(LoopModel(5));
  ASSERT_TRUE(loaded.session) << loaded.message();
  EXPECT_EQ(RunLoop(loaded, INT64_MAX, {1, 0, 0, 0}, 0), (Floats{6, 0, 0, 0}));
  EXPECT_EQ(RunLoop(loaded, INT64_MAX, {1, 0, 0, 0}, 1).size(), 20u);
}

TEST(Loop, EndsWhereItsRegionSaysSo) {
  Loaded loaded(LoopModel(50));
  ASSERT_TRUE(loaded.session) << loaded.message();
  EXPECT_EQ(RunLoop(loaded, 50, {40, 0, 0, 1}, 0), (Floats{120, 0, 0, 3}));
  EXPECT_EQ(RunLoop(loaded, 50, {40, 0, 0, 1}, 1).size(), 8u);
}

TEST(Loop, StandsApartInAStoredPlan) {
  for (const uint64_t sum_offset : {128, 192, 512}) {  // what the body reads from around it, its number, the slices
    Loaded loaded(LoopModel(5, true, sum_offset));
    EXPECT_EQ(loaded.error.code, LATHE_BAD_MODEL) << sum_offset;
    EXPECT_NE(loaded.message().find("where another one is still needed"), std::string::npos) << loaded.message();
  }
}

TEST(Loop, TellsItsObserverOfTheWholeLoop) {
  Loaded loaded(LoopModel(5));
  ASSERT_TRUE(loaded.session) << loaded.message();
  std::string seen;
  loaded.api->set_observer(
      loaded.session,
      [](void* user, const lathe_node_event* event) {
        *static_cast<std::string*>(user) += std::string(event->name) + (event->end_ns >= event->start_ns ? " " : "?");
      },
      &seen);
  RunLoop(loaded, 5, {1, 2, 3, 4}, 0);
  EXPECT_EQ(seen, "scale1 loop1 ");
}

// k = the positive numbers of x, if `more` says so, else x + x; y = k + k. Only the data decides how many y are.
struct Branches {
  explicit Branches(uint32_t condition_type = kBool, uint32_t result_type = kF32, bool sized = true)
      : model("branches") {
    const DimArg found = model.Expr({Sym(model.Symbol("found", 0, 4))});
    const DimArg size = model.Expr({Sym(model.Symbol("size", 0, 4))});
    const uint32_t x = model.Input(model.Value("x", {4}));
    const uint32_t more = model.Input(model.Value("more", {1}, condition_type));
    const uint32_t kept = model.Value("kept", {found});
    const uint32_t twice = model.Value("twice", {found}, result_type);
    const uint32_t same = model.Value("same", {4});
    const uint32_t k = model.Value("k", {sized ? size : DimArg(4)});
    const uint32_t y = model.Value("y", {sized ? size : DimArg(4)});
    model.Node("if_else", "if1", {more}, {k},
               {DimsAttr("sizes", sized ? std::vector<DimArg>{size} : std::vector<DimArg>())},
               {RegionBytes({}, {twice},
                            {NodeBytes("keep", "keep1", {x}, {kept}), NodeBytes("relu", "relu1", {kept}, {twice})}),
                RegionBytes({}, {same}, {NodeBytes("add", "add1", {x, x}, {same})})});
    model.Node("add", "add2", {k, k}, {y});
    model.Output(y);
  }
  ModelBuilder model;
};

TEST(IfElse, RunsOneRegion) {
  for (const uint32_t flags : {0u, uint32_t{LATHE_SESSION_KEEP_ALL}}) {
    Loaded loaded(Branches().model, flags);
    ASSERT_TRUE(loaded.session) << loaded.message();
    for (int round = 0; round < 3; ++round) {
      for (const int8_t more : {1, 0}) {
        loaded.Write(1, &more, sizeof(more));
        EXPECT_EQ(loaded.Run({1, -1, 2, -2}), more ? (Floats{2, 4}) : (Floats{4, -4, 8, -8}));
      }
    }
  }
}

TEST(IfElse, ChecksItsRegions) {
  Loaded condition(Branches(kS64).model);
  EXPECT_EQ(condition.error.code, LATHE_BAD_MODEL);
  EXPECT_NE(condition.message().find("its condition is not bool"), std::string::npos) << condition.message();
  Loaded type(Branches(kBool, kS64).model);
  EXPECT_EQ(type.error.code, LATHE_BAD_MODEL);
  EXPECT_NE(type.message().find("another element type"), std::string::npos) << type.message();
  ModelBuilder one("one");
  const uint32_t c = one.Input(one.Value("c", {}, kBool));
  const uint32_t w = one.Floats("w", {1}, {1});
  const uint32_t y = one.Value("y", {1});
  one.Node("if_else", "if1", {c}, {y}, {DimsAttr("sizes", {})}, {RegionBytes({}, {w}, {})});
  one.Output(y);
  Loaded loaded(one);
  EXPECT_EQ(loaded.message(), "bad model: node 'if1' (if_else) has 1 regions, its operator 2");
}

}  // namespace
}  // namespace lathe_test
