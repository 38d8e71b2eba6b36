// Values that stand inside of others: where they are, what else may stand there, how far apart their rows are.
#include <gtest/gtest.h>

#include "native/tests/engine_fixture.h"

namespace lathe_test {
namespace {

using Floats = std::vector<float>;
constexpr char kJoin[] = "join_f32_test__portable", kSplit[] = "split_f32_test__portable";
constexpr char kLift[] = "lift_f32_test__portable", kRelu[] = "relu_f32_test__portable";

std::string Axis(int64_t axis) { return IntAttr("axis", axis); }

const float* InputAt(Loaded& loaded, size_t index) {
  void* data = nullptr;
  size_t bytes = 0;
  EXPECT_EQ(loaded.api->input_data(loaded.session, index, &data, &bytes, &loaded.error), LATHE_OK);
  return static_cast<const float*>(data);
}

const float* OutputAt(Loaded& loaded, size_t index) {
  const void* data = nullptr;
  size_t bytes = 0;
  EXPECT_EQ(loaded.api->output_data(loaded.session, index, &data, &bytes, &loaded.error), LATHE_OK);
  return static_cast<const float*>(data);
}

void ExpectOverlap(const Loaded& loaded) {
  EXPECT_EQ(loaded.error.code, LATHE_BAD_MODEL);
  EXPECT_NE(loaded.message().find("where another one is still needed, or not at a multiple of 64"), std::string::npos)
      << loaded.message();
}

// y[n + 2, 3] = x[n, 3] and w[2, 3], which are inputs, one below the other; n is 1 to 4.
ModelBuilder Below(uint64_t x_offset, uint64_t w_offset) {
  ModelBuilder model("below");
  const uint32_t n = model.Symbol("n", 1, 4);
  const DimArg rows = model.Expr({Sym(n)});
  const DimArg all = model.Expr({Sym(n), Push(2), kAdd});
  const uint32_t x = model.Input(model.Value("x", {rows, 3}));
  const uint32_t w = model.Input(model.Value("w", {2, 3}));
  const uint32_t y = model.Value("y", {all, 3});
  model.Node("join", "join1", {x, w}, {y}, {Axis(0)});
  model.Output(y);
  model.Kernel(kJoin);
  model.Place(x, x_offset, 48);
  model.Place(w, w_offset, 24);
  model.Place(y, 0, 72);
  model.arena_size = 256;
  return model;
}

TEST(Parts, StandWhereTheStoredPlanPutsThem) {
  Loaded loaded(Below(0, 48));
  ASSERT_TRUE(loaded.session) << loaded.message();
  EXPECT_EQ(InputAt(loaded, 0), OutputAt(loaded, 0));
  EXPECT_EQ(InputAt(loaded, 1), OutputAt(loaded, 0) + 12);
  const float w[] = {-1, -2, -3, -4, -5, -6};
  loaded.Write(1, w, sizeof(w));
  const Floats first = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  Floats expected = first;
  expected.insert(expected.end(), w, w + 6);
  EXPECT_EQ(loaded.Run(first), expected);
}

TEST(Parts, FollowTheirWholeToOtherSizes) {
  Loaded loaded(Below(0, 48));
  ASSERT_TRUE(loaded.session) << loaded.message();
  for (const int64_t n : {2, 1, 3, 4}) {
    const lathe_shape shapes[] = {{2, {n, 3}}, {2, {2, 3}}};
    ASSERT_EQ(loaded.api->resize(loaded.session, 2, shapes, &loaded.error), LATHE_OK) << loaded.message();
    EXPECT_EQ(InputAt(loaded, 0), OutputAt(loaded, 0)) << n;
    EXPECT_EQ(InputAt(loaded, 1), OutputAt(loaded, 0) + 3 * n) << n;
    const float w[] = {-1, -2, -3, -4, -5, -6};
    loaded.Write(1, w, sizeof(w));
    const Floats x(static_cast<size_t>(3 * n), static_cast<float>(n));
    Floats expected = x;
    expected.insert(expected.end(), w, w + 6);
    EXPECT_EQ(loaded.Run(x), expected) << n;
  }
}

TEST(Parts, StandApartWhereThePlanOrTheSessionSaysSo) {
  for (const bool keeps_all : {false, true}) {
    Loaded loaded(keeps_all ? Below(0, 48) : Below(128, 192), keeps_all ? uint32_t{LATHE_SESSION_KEEP_ALL} : 0u);
    ASSERT_TRUE(loaded.session) << loaded.message();
    EXPECT_GE(std::abs(InputAt(loaded, 0) - OutputAt(loaded, 0)), 16) << keeps_all;
    EXPECT_GE(std::abs(InputAt(loaded, 1) - OutputAt(loaded, 0)), 16) << keeps_all;
    const float w[] = {9, 9, 9, 9, 9, 9};
    loaded.Write(1, w, sizeof(w));
    EXPECT_EQ(loaded.Run(Floats(12, 1)).back(), 9) << keeps_all;
  }
}

TEST(Parts, StandNowhereElseInTheirWhole) {
  for (const uint64_t offset : {44, 52, 24, 0, 64}) {  // of w, whose place is 48
    ExpectOverlap(Loaded(Below(0, offset)));
  }
  ExpectOverlap(Loaded(Below(12, 48)));
}

// y[2, 5] = lift(x)[2, 2] beside lift(w)[2, 3].
ModelBuilder Beside(uint64_t b_offset, int outer = 0) {
  ModelBuilder model("beside");
  const auto dims = [outer](int64_t width) {
    return outer > 0 ? std::vector<DimArg>{outer, width, 1} : std::vector<DimArg>{2, width};
  };
  const uint32_t x = model.Input(model.Value("x", dims(2)));
  const uint32_t w = model.Input(model.Value("w", dims(3)));
  const uint32_t a = model.Value("a", dims(2));
  const uint32_t b = model.Value("b", dims(3));
  const uint32_t y = model.Value("y", dims(5));
  model.Node("lift", "lift1", {x}, {a});
  model.Node("lift", "lift2", {w}, {b});
  model.Node("join", "join1", {a, b}, {y}, {Axis(1)});
  model.Output(y);
  for (const char* kernel : {kLift, kLift, kJoin}) model.Kernel(kernel);
  const uint64_t rows = outer > 0 ? static_cast<uint64_t>(outer) : 2;
  model.Place(x, 0, rows * 8);
  model.Place(w, 64, rows * 12);
  model.Place(a, 128, rows * 8);
  model.Place(b, b_offset, rows * 12);
  model.Place(y, 128, rows * 20);
  model.arena_size = 256;
  return model;
}

TEST(Parts, OfTheLastAxisHaveRowsThatLieApart) {
  Loaded loaded(Beside(136));
  ASSERT_TRUE(loaded.session) << loaded.message();
  const float w[] = {5, 6, 7, 8, 9, 10};
  loaded.Write(1, w, sizeof(w));
  const Floats expected = {2, 3, 6, 7, 8, 4, 5, 9, 10, 11};
  EXPECT_EQ(loaded.Run({1, 2, 3, 4}), expected);
  Loaded apart(Beside(136), LATHE_SESSION_KEEP_ALL);
  ASSERT_TRUE(apart.session) << apart.message();
  apart.Write(1, w, sizeof(w));
  EXPECT_EQ(apart.Run({1, 2, 3, 4}), expected);
  ExpectOverlap(Loaded(Beside(148)));
}

TEST(Parts, OfAMiddleAxisAreOfOnePiece) {
  Loaded one(Beside(136, 1));
  ASSERT_TRUE(one.session) << one.message();
  const float w[] = {5, 6, 7};
  one.Write(1, w, sizeof(w));
  EXPECT_EQ(one.Run({1, 2}), (Floats{2, 3, 6, 7, 8}));
  ExpectOverlap(Loaded(Beside(136, 2)));
}

// y = join(join(x, w), v): what is a part has no parts.
ModelBuilder Nested(uint64_t whole_offset, uint64_t w_offset) {
  ModelBuilder model("nested");
  const uint32_t x = model.Input(model.Value("x", {1, 3}));
  const uint32_t w = model.Input(model.Value("w", {1, 3}));
  const uint32_t v = model.Input(model.Value("v", {1, 3}));
  const uint32_t j = model.Value("j", {2, 3});
  const uint32_t y = model.Value("y", {3, 3});
  model.Node("join", "join1", {x, w}, {j}, {Axis(0)});
  model.Node("join", "join2", {j, v}, {y}, {Axis(0)});
  model.Output(y);
  for (int i = 0; i < 2; ++i) model.Kernel(kJoin);
  model.Place(x, whole_offset, 12);
  model.Place(w, w_offset, 12);
  model.Place(j, whole_offset, 24);
  model.Place(v, 152, 12);
  model.Place(y, 128, 36);
  model.arena_size = 256;
  return model;
}

TEST(Parts, HaveNoParts) {
  Loaded loaded(Nested(0, 12));
  ASSERT_TRUE(loaded.session) << loaded.message();
  const float w[] = {4, 5, 6}, v[] = {7, 8, 9};
  loaded.Write(1, w, sizeof(w));
  loaded.Write(2, v, sizeof(v));
  EXPECT_EQ(loaded.Run({1, 2, 3}), (Floats{1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(InputAt(loaded, 2), OutputAt(loaded, 0) + 6);
  ExpectOverlap(Loaded(Nested(128, 140)));
}

TEST(Parts, OutputsInsideOfAnInput) {
  ModelBuilder model("split");
  const uint32_t x = model.Input(model.Value("x", {3, 3}));
  const uint32_t p = model.Value("p", {1, 3}), q = model.Value("q", {2, 3}), r = model.Value("r", {2, 3});
  model.Node("split", "split1", {x}, {p, q}, {Axis(0)});
  model.Node("relu", "relu1", {q}, {r});
  for (const uint32_t output : {p, q, r}) model.Output(output);
  for (const char* kernel : {kSplit, kRelu}) model.Kernel(kernel);
  model.Place(x, 0, 36);
  model.Place(p, 0, 12);
  model.Place(q, 12, 24);
  model.Place(r, 64, 24);
  model.arena_size = 128;
  Loaded loaded(model);
  ASSERT_TRUE(loaded.session) << loaded.message();
  EXPECT_EQ(OutputAt(loaded, 0), InputAt(loaded, 0));
  EXPECT_EQ(OutputAt(loaded, 1), InputAt(loaded, 0) + 3);
  const Floats x_values = {1, 2, 3, -4, -5, -6, 7, 8, 9};
  EXPECT_EQ(loaded.Run(x_values, 0), (Floats{1, 2, 3}));
  EXPECT_EQ(loaded.Run(x_values, 1), (Floats{-4, -5, -6, 7, 8, 9}));
  EXPECT_EQ(loaded.Run(x_values, 2), (Floats{0, 0, 0, 7, 8, 9}));
}

// r = relu(x), p = r's first row, z = lift(w), y = relu(z): where z stands, p is needed until the end.
ModelBuilder LastsLonger(uint64_t z_offset) {
  ModelBuilder model("lasts");
  const uint32_t x = model.Input(model.Value("x", {22, 3}));
  const uint32_t w = model.Input(model.Value("w", {1, 3}));
  const uint32_t r = model.Value("r", {22, 3});
  const uint32_t p = model.Value("p", {1, 3}), q = model.Value("q", {21, 3});
  const uint32_t z = model.Value("z", {1, 3}), y = model.Value("y", {1, 3});
  model.Node("relu", "relu1", {x}, {r});
  model.Node("split", "split1", {r}, {p, q}, {Axis(0)});
  model.Node("lift", "lift1", {w}, {z});
  model.Node("relu", "relu2", {z}, {y});
  for (const uint32_t output : {p, y}) model.Output(output);
  for (const char* kernel : {kRelu, kSplit, kLift, kRelu}) model.Kernel(kernel);
  model.Place(x, 0, 264);
  model.Place(w, 320, 12);
  model.Place(r, 384, 264);
  model.Place(p, 384, 12);
  model.Place(q, 396, 252);
  model.Place(z, z_offset, 12);
  model.Place(y, 768, 12);
  model.arena_size = 1024;
  return model;
}

TEST(Parts, KeepTheirWholeUntilTheyEnd) {
  Loaded loaded(LastsLonger(704));
  ASSERT_TRUE(loaded.session) << loaded.message();
  Floats x(66, -1);
  x[0] = 5;
  EXPECT_EQ(loaded.Run(x, 0), (Floats{5, 0, 0}));
  ExpectOverlap(Loaded(LastsLonger(384)));
  ExpectOverlap(Loaded(LastsLonger(384 + 256)));  // at the end of it
}

// a = lift(x) stands at the beginning of y[20, 3]; z, from which b is made, is needed while a is there.
ModelBuilder BeginsEarlier(uint64_t z_offset) {
  ModelBuilder model("begins");
  const uint32_t x = model.Input(model.Value("x", {2, 3}));
  const uint32_t w = model.Input(model.Value("w", {18, 3}));
  const uint32_t a = model.Value("a", {2, 3});
  const uint32_t z = model.Value("z", {18, 3}), b = model.Value("b", {18, 3});
  const uint32_t y = model.Value("y", {20, 3});
  model.Node("lift", "lift1", {x}, {a});
  model.Node("lift", "lift2", {w}, {z});
  model.Node("lift", "lift3", {z}, {b});
  model.Node("join", "join1", {a, b}, {y}, {Axis(0)});
  model.Output(y);
  for (const char* kernel : {kLift, kLift, kLift, kJoin}) model.Kernel(kernel);
  model.Place(x, 0, 24);
  model.Place(w, 64, 216);
  model.Place(a, 320, 24);
  model.Place(z, z_offset, 216);
  model.Place(b, 344, 216);
  model.Place(y, 320, 240);
  model.arena_size = 1024;
  return model;
}

TEST(Parts, KeepTheirWholeFromWhereTheyBegin) {
  Loaded loaded(BeginsEarlier(576));
  ASSERT_TRUE(loaded.session) << loaded.message();
  const Floats w(54, 1);
  loaded.Write(1, w.data(), 216);
  Floats expected(60, 3);
  for (size_t i = 0; i < 6; ++i) expected[i] = 8;
  EXPECT_EQ(loaded.Run(Floats(6, 7)), expected);
  ExpectOverlap(Loaded(BeginsEarlier(384)));
}

// The number of the positive is found by the data: k does not stand in y, whose sizes the plan cannot know.
ModelBuilder Found(uint64_t k_offset) {
  ModelBuilder model("found");
  const uint32_t found = model.Symbol("found", 0, 4);
  const DimArg size = model.Expr({Sym(found)});
  const DimArg more = model.Expr({Sym(found), Push(2), kAdd});
  const uint32_t x = model.Input(model.Value("x", {4}));
  const uint32_t w = model.Input(model.Value("w", {2}));
  const uint32_t k = model.Value("k", {size});
  const uint32_t y = model.Value("y", {more});
  model.Node("keep", "keep1", {x}, {k});
  model.Node("join", "join1", {k, w}, {y}, {Axis(0)});
  model.Output(y);
  for (const char* kernel : {"keep_f32_test__portable", kJoin}) model.Kernel(kernel);
  model.Place(x, 0, 16);
  model.Place(w, 64, 8);
  model.Place(k, k_offset, 16);
  model.Place(y, 128, 24);
  model.arena_size = 256;
  return model;
}

TEST(Parts, AreNotOfSizesThatTheDataDecides) {
  Loaded loaded(Found(192));
  ASSERT_TRUE(loaded.session) << loaded.message();
  const float w[] = {8, 9};
  loaded.Write(1, w, sizeof(w));
  EXPECT_EQ(loaded.Run({1, -1, 2, -2}), (Floats{1, 2, 8, 9}));
  EXPECT_EQ(loaded.Run({-1, -1, -1, -1}), (Floats{8, 9}));
  EXPECT_EQ(loaded.Run({1, 2, 3, 4}), (Floats{1, 2, 3, 4, 8, 9}));
  ExpectOverlap(Loaded(Found(128)));
}

}  // namespace
}  // namespace lathe_test
