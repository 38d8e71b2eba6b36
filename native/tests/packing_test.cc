// Constants that come packed: who may read them, and what a reader checks of them.
#include <gtest/gtest.h>

#include "native/tests/engine_fixture.h"

namespace lathe_test {
namespace {

constexpr uint32_t kPanels8 = 2, kPanels16 = 3;

std::string BytesOf(const std::vector<float>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
}

std::vector<std::string> NoActivation() {
  return {StringAttr("activation", "none"), FloatAttr("activation_alpha", 0), FloatAttr("activation_beta", 0)};
}

// y[1, 3] = x[1, 2] times the weights, in one panel of which only the first `outputs` are real.
ModelBuilder Product(uint32_t packing, const std::vector<DimArg>& dims, int outputs = 3) {
  int64_t count = 1;
  for (const DimArg& dim : dims) count *= dim.size;
  std::vector<float> weights(static_cast<size_t>(count));
  const size_t width = static_cast<size_t>(dims.back().size);
  for (size_t k = 0; k < 2 && (k + 1) * width <= weights.size(); ++k) {
    for (size_t n = 0; n < 3 && n < width; ++n) weights[k * width + n] = static_cast<float>(10 * k + n);
  }
  ModelBuilder model("product");
  const uint32_t x = model.Input(model.Value("x", {1, 2}));
  const uint32_t w = model.Constant("w.packed", dims, BytesOf(weights), 1, 1, packing);
  const uint32_t y = model.Value("y", {1, outputs});
  model.Node("fully_connected", "fc", {x, w}, {y}, NoActivation());
  model.Output(y);
  return model;
}

TEST(Packing, PanelsOfBothWidthsAreReadInPlace) {
  for (const uint32_t packing : {kPanels8, kPanels16}) {
    Loaded loaded(Product(packing, {1, 1, 1, 1, 2, packing == kPanels8 ? 8 : 16}));
    ASSERT_NE(loaded.session, nullptr) << loaded.message();
    EXPECT_EQ(loaded.Run({1, 2}), (std::vector<float>{20, 23, 26}));
    lathe_memory_info memory = {};
    memory.struct_size = sizeof(memory);
    loaded.api->memory_info(loaded.session, &memory);
    EXPECT_EQ(memory.weights_allocated + memory.weights_mapped, packing == kPanels8 ? 64u : 128u);
  }
}

std::string Refusal(const ModelBuilder& model, lathe_code code) {
  Loaded loaded(model);
  EXPECT_EQ(loaded.session, nullptr);
  EXPECT_EQ(loaded.error.code, code);
  return loaded.message();
}

TEST(Packing, WhatDoesNotFitIsRefused) {
  EXPECT_EQ(Refusal(Product(99, {1, 1, 1, 1, 2, 8}), LATHE_BAD_MODEL),
            "bad model: a constant is packed in a way that this library does not know");
  for (const uint32_t unread : {1u, 4u, 6u, 9u})
    EXPECT_NE(Refusal(Product(unread, {1, 1, 1, 1, 2, 8}), LATHE_UNSUPPORTED)
                  .find("'fully_connected_f32_tile__portable' cannot read input 1 as it is packed"),
              std::string::npos);
  const std::vector<std::vector<DimArg>> wrong = {
      {1, 1, 1, 1, 2, 16},  // the width of another packing
      {1, 2, 1, 1, 2, 8},   // more panels than outputs
      {2, 1, 1, 1, 2, 8},   // groups
      {1, 1, 2, 1, 1, 8},   // taps
      {1, 1, 1, 1, 0, 8},   // nothing
  };
  for (const std::vector<DimArg>& dims : wrong) Refusal(Product(kPanels8, dims), LATHE_BAD_MODEL);
  Refusal(Product(kPanels8, {1, 1, 1, 1, 2, 8}, 9), LATHE_BAD_MODEL);  // an output without a panel
  Refusal(Product(kPanels8, {2, 8}), LATHE_BAD_MODEL);
  Refusal(Product(kPanels8, {1, 1, 1, 1, 3, 8}), LATHE_BAD_MODEL);  // another depth than the input
}

TEST(Packing, OnlyWhoAsksForItGetsIt) {
  ModelBuilder model("m");
  const uint32_t x = model.Input(model.Value("x", {1}));
  const uint32_t w = model.Constant("w", {1}, BytesOf({1}), 1, 1, kPanels8);
  const uint32_t y = model.Value("y", {1});
  model.Node("add", "a", {x, w}, {y});
  model.Output(y);
  EXPECT_NE(Refusal(model, LATHE_UNSUPPORTED).find("cannot read input 1 as it is packed"), std::string::npos);
  ModelBuilder first("m");
  const uint32_t panel = first.Constant("w", {1}, BytesOf({1}), 1, 1, kPanels8);
  const uint32_t z = first.Value("z", {1});
  first.Node("relu", "r", {panel}, {z});
  first.Output(z);
  EXPECT_NE(Refusal(first, LATHE_UNSUPPORTED).find("cannot read input 0 as it is packed"), std::string::npos);
}

}  // namespace
}  // namespace lathe_test
