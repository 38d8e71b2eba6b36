// What the reader of containers refuses, and in which words.
#include "native/runtime/model.h"

#include <gtest/gtest.h>

#include "native/tests/engine_fixture.h"

namespace lathe_test {
namespace {

std::string Refusal(const std::string& model, const std::string& data = "") {
  Loaded loaded(model, data, 0, nullptr, 1);
  EXPECT_EQ(loaded.engine, nullptr);
  EXPECT_EQ(loaded.error.code, LATHE_BAD_MODEL) << loaded.message();
  return loaded.message();
}

std::string Refusal(const ModelBuilder& model) { return Refusal(model.Model(), model.data()); }

// One relu over f32[4]; tests spoil it.
struct Relu : ModelBuilder {
  Relu() : ModelBuilder("m") {
    x = Input(Value("x", {4}));
    y = Value("y", {4});
  }
  std::string Done() {
    Node("relu", "r", {x}, {y});
    Output(y);
    return Refusal(*this);
  }
  uint32_t x, y;
};

TEST(Model, RefusesOtherFiles) {
  EXPECT_EQ(Refusal(std::string("PK\x03\x04")), "bad model: the file is cut off or malformed");
  EXPECT_EQ(Refusal(std::string("x")).substr(0, 10), "bad model:");
  Loaded empty("", "", 0, nullptr, 1);
  EXPECT_EQ(empty.engine, nullptr);
  Relu newer;
  newer.version = 4;
  EXPECT_EQ(newer.Done(),
            "bad model: the format version is 4, this library reads 3; rebuild the library with a newer Lathe");
  Relu none;
  none.version = 0;
  EXPECT_EQ(none.Done(), "bad model: the file is no Lathe model (it has no format version)");
}

TEST(Model, RefusesTheWrongData) {
  Relu model;
  model.data_size = 100;
  EXPECT_EQ(model.Done(), "bad model: 'm' belongs to a data file of 100 bytes, no data was given: 0 bytes");
}

TEST(Model, RefusesBadValues) {
  Relu type;
  type.Value("v", {1}, 99);
  EXPECT_EQ(type.Done(), "bad model: value 'v' has no element type that this library knows");
  Relu rank;
  rank.Value("v", std::vector<DimArg>(9, 1));
  EXPECT_EQ(rank.Done(), "bad model: a list of dimensions holds 9 entries, the limit is 8");
  Relu large;
  large.Value("v", {1 << 29, 1 << 29, 1 << 29});
  EXPECT_EQ(large.Done(), "bad model: value 'v' has a dimension that is negative or too large");
  Relu dim;
  dim.Value("v", {DimArg::Expr(0)});
  EXPECT_EQ(dim.Done(), "bad model: a dimension of 'v' names no expression");
  Relu zero;
  zero.Value(std::string("a\0b", 3), {1});
  EXPECT_EQ(zero.Done(), "bad model: a name holds a zero byte");
}

TEST(Model, RefusesBadConstants) {
  Relu size;
  size.Constant("c", {4}, "12345678");
  EXPECT_EQ(size.Done(), "bad model: constant 'c' has 8 bytes, its type and shape need 16");
  Relu storage;
  storage.Constant("c", {4}, "12345678", 9, 2);
  EXPECT_EQ(storage.Done(),
            "bad model: constant 'c' is stored as a type that is not its own (only f32 may be stored as f16 or bf16)");
  Relu outside;
  outside.Constant("c", {2}, "12345678");
  outside.data_size = 7;
  EXPECT_EQ(outside.Done(), "bad model: constant 'c' lies outside of the 7 bytes of the data file");
}

TEST(Model, RefusesBadSymbolsAndExpressions) {
  Relu bounds;
  bounds.Symbol("n", 5, 4);
  EXPECT_EQ(bounds.Done(), "bad model: the bounds of symbol 'n' are not ordered");
  Relu cut;
  cut.DamagedSymbol(std::string("\x0a\x01n\x10\x01\x18\x04\x1a", 8));  // ends where a length is to come
  EXPECT_EQ(cut.Done(), "bad model: a symbol is cut off or malformed");
  Relu expr;
  expr.Expr({Sym(0)});
  EXPECT_EQ(expr.Done(), "bad model: a dimension's expression names a symbol that does not exist");
}

TEST(Model, RefusesUndefinedValues) {
  Relu packed;
  packed.Output(packed.Constant("w", {1, 1, 1, 1, 1, 8}, std::string(32, '\0'), 1, 1, 2));
  EXPECT_EQ(packed.Done(), "bad model: 'm' uses value 'w', which is packed");
  Relu used;
  used.Node("relu", "early", {used.y}, {used.Value("z", {4})});
  EXPECT_EQ(used.Done(), "bad model: 'early' uses value 'y', which is not defined before it");
  Relu twice;
  twice.Node("relu", "first", {twice.x}, {twice.y});
  EXPECT_EQ(twice.Done(), "bad model: 'r' defines value 'y', which is defined before");
  Relu index;
  index.Node("relu", "n", {77}, {});
  EXPECT_EQ(index.Done(), "bad model: 'n' names a value that does not exist");
  Relu constant;
  constant.Node("relu", "n", {constant.x}, {constant.Floats("c", {1}, {1})});
  EXPECT_EQ(constant.Done(), "bad model: 'n' defines value 'c', which is a constant");
}

TEST(Model, RefusesValuesOfInnerRegionsOutside) {
  Relu model;
  const uint32_t inner = model.Value("inner", {4});
  const std::string region = PbWriter().Packed(1, {inner}).Packed(2, {inner}).bytes();
  model.Node("loop", "l", {model.x}, {model.Value("z", {4})}, {}, {region});
  model.Node("relu", "outside", {inner}, {model.Value("w", {4})});
  EXPECT_EQ(model.Done(), "bad model: 'outside' uses value 'inner', which is not defined before it");
}

TEST(Model, RefusesDeepRegions) {
  std::string region;
  for (int depth = 0; depth < 12; ++depth)
    region = PbWriter().Bytes(3, PbWriter().Bytes(1, "loop").Bytes(6, region).bytes()).bytes();
  Relu model;
  model.Node("loop", "l", {model.x}, {}, {}, {region});
  EXPECT_EQ(model.Done(), "bad model: regions are nested deeper than 9");
}

TEST(Model, RefusesBadPlans) {
  Relu count;
  count.Kernel("relu_f32_test__portable");
  count.Kernel("relu_f32_test__portable");
  EXPECT_EQ(count.Done(), "bad model: the plan has 2 entries for 1 nodes");
  Relu nothing;
  nothing.Kernels({});
  EXPECT_EQ(nothing.Done(), "bad model: the plan names no kernel for a node");
  Relu many;
  many.Kernels(std::vector<std::string>(17, "relu_f32_test__portable"));
  EXPECT_EQ(many.Done(), "bad model: the plan of a node holds 17 entries, the limit is 16");
  Relu offset;
  offset.Kernel("relu_f32_test__portable");
  offset.Place(offset.x, 64, 16);
  offset.arena_size = 64;
  EXPECT_EQ(offset.Done(), "bad model: the plan places value 'x' outside of the arena");
  Relu operation;
  operation.Kernel("add_f32_test__portable");
  EXPECT_EQ(operation.Done(),
            "bad model: node 'r' (relu) is planned for kernel 'add_f32_test__portable', which is one of add");
}

TEST(Model, RefusesBadAttributes) {
  ModelBuilder model("m");
  const uint32_t x = model.Input(model.Value("x", {1}));
  const uint32_t w = model.Floats("w", {1}, {1});
  ModelBuilder missing = model, kind = model;
  missing.Node("scale", "s", {x, w}, {missing.Value("y", {1})});
  EXPECT_EQ(Refusal(missing), "node 's' (scale): attribute 'factor' is missing");
  kind.Node("scale", "s", {x, w}, {kind.Value("y", {1})}, {IntAttr("factor", 1)});
  EXPECT_EQ(Refusal(kind), "node 's' (scale): attribute 'factor' is of another kind than the kernel expects");
}

}  // namespace
}  // namespace lathe_test
