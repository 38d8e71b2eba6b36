// Constants that are stored as whole numbers with scales: what they expand to, and what is refused.
#include "native/runtime/block_weights.h"

#include <gtest/gtest.h>
#include <string.h>

#include "native/tests/engine_fixture.h"

namespace lathe_test {
namespace {

constexpr uint32_t kF16 = 2, kS8 = 5, kU8 = 6, kS16 = 7, kS32 = 9;

template <typename T>
std::string Bytes(const std::vector<T>& elements) {
  return std::string(reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T));
}

// A model that gives its input, and one constant.
struct Giving : ModelBuilder {
  Giving() : ModelBuilder("m") {
    version = 3;
    Output(Input(Value("x", {1})));
  }
  Giving& Give(uint32_t constant) {
    Output(constant);
    return *this;
  }
};

std::vector<float> Given(const ModelBuilder& model) {
  Loaded loaded(model);
  EXPECT_TRUE(loaded.session) << loaded.message();
  return loaded.session == nullptr ? std::vector<float>() : loaded.Run({0}, 1);
}

std::string Refusal(const ModelBuilder& model) {
  Loaded loaded(model);
  EXPECT_EQ(loaded.engine, nullptr);
  EXPECT_EQ(loaded.error.code, LATHE_BAD_MODEL) << loaded.message();
  return loaded.message();
}

TEST(Scaled, BytesWithAScaleForEachRow) {
  Giving model;
  model.Give(
      model.Scaled("c", {2, 3}, Bytes<int8_t>({1, -2, 127, -128, 0, 5}), kS8, Bytes<float>({0.5f, 3}), {3, 1, 3}));
  EXPECT_EQ(Given(model), std::vector<float>({0.5f, -1, 63.5f, -384, 0, 15}));
}

TEST(Scaled, WordsWithAScaleForEachColumn) {
  Giving model;
  const std::string numbers = Bytes<int16_t>({1, -2, 32767, -32768, 0, 5});
  model.Give(model.Scaled("c", {2, 3}, numbers, kS16, Bytes<float>({1, 2, 0.5f}), {2, 3, 2}));
  EXPECT_EQ(Given(model), std::vector<float>({1, -4, 16383.5f, -32768, 0, 2.5f}));
}

TEST(Scaled, NibblesInBlocksWithHalvesAsScales) {
  // Rows of 5 in blocks of 2: three scales each, the last one for a single number. An odd count: half a byte is left.
  Giving model;
  const std::string numbers = "\x21\xf3\x87\x74\x65\x09";
  const std::vector<uint16_t> ones_and_twos = {0x3c00, 0x4000, 0x3800, 0x0000, 0x3c00, 0x4000, 0x4000};
  model.Give(model.Scaled("c", {1, 11}, numbers, kU8, Bytes(ones_and_twos), {11, 1, 2, kF16}, 1));
  // 6 scales would do: the seventh is not read.
  EXPECT_EQ(Given(model), std::vector<float>({1, 2, 6, -2, 3.5f, -4, 0, 0, 5, 6, -14}));
}

TEST(Scaled, MoreColumnsThanAreReadAtATime) {
  constexpr int columns = 150, depth = 5;
  std::vector<int8_t> numbers;
  std::vector<float> scales, expected;
  for (int i = 0; i < 2 * depth * columns; ++i) numbers.push_back(static_cast<int8_t>(i * 37 % 251 - 125));
  for (int i = 0; i < 2 * 3 * columns; ++i) scales.push_back(static_cast<float>(i + 1) / 8);
  for (int i = 0; i < 2 * depth * columns; ++i) {
    const int slice = i / (depth * columns), row = i / columns % depth;
    expected.push_back(static_cast<float>(numbers[static_cast<size_t>(i)]) *
                       scales[static_cast<size_t>((slice * 3 + row / 2) * columns + i % columns)]);
  }
  Giving model;
  model.Give(model.Scaled("c", {2, depth, columns}, Bytes(numbers), kS8, Bytes(scales), {depth, columns, 2}));
  EXPECT_EQ(Given(model), expected);
}

TEST(Scaled, SmallAndInfiniteProductsAreThoseOfSinglePrecision) {
  const float tiny = 1e-45f, huge = 3e38f;
  Giving model;
  model.Give(
      model.Scaled("c", {1, 4}, Bytes<int8_t>({3, -1, 0, 2}), kS8, Bytes<float>({tiny, tiny, huge, huge}), {1, 4, 1}));
  EXPECT_EQ(Given(model), std::vector<float>({3 * tiny, -tiny, 0, INFINITY}));
}

TEST(Scaled, RefusesWhatDoesNotFit) {
  const std::string fit = "bad model: the scales of constant 'c' do not fit it";
  const std::string six = "abcdef", scales(24, '\1');
  const ScaledArg wrong[] = {{0, 1, 1},      {3, 0, 3},    {3, 1, 0},          {3, 1, 4},          {4, 1, 4},
                             {7, 1, 7},      {1, 7, 1},    {UINT64_MAX, 2, 1}, {2, UINT64_MAX, 1}, {1ull << 63, 2, 1},
                             {3, 1, 3, kS8}, {3, 1, 3, 3}, {3, 1, 3, 0},       {3, 1, 3, 99},      {3, 1, UINT64_MAX}};
  for (const ScaledArg& scaled : wrong) {
    Giving model;
    EXPECT_EQ(Refusal(model.Give(model.Scaled("c", {2, 3}, six, kS8, scales, scaled))), fit)
        << scaled.depth << " " << scaled.width << " " << scaled.block << " " << scaled.storage;
  }
  Giving empty;
  EXPECT_EQ(Refusal(empty.Give(empty.Scaled("c", {0, 3}, "", kS8, scales, {3, 1, 3}))), fit);
  Giving floats;  // numbers that are no whole ones
  EXPECT_EQ(Refusal(floats.Give(floats.Scaled("c", {2, 3}, six + six, kF16, scales, {3, 1, 3}))), fit);
  Giving wide;
  EXPECT_EQ(Refusal(wide.Give(wide.Scaled("c", {2, 3}, scales, kS32, scales, {3, 1, 3}))), fit);
}

TEST(Scaled, RefusesSizesAndPlaces) {
  const std::string six = "abcdef", scales(24, '\1');
  Giving few;
  EXPECT_EQ(Refusal(few.Give(few.Scaled("c", {2, 3}, "abcde", kS8, scales, {3, 1, 3}))),
            "bad model: constant 'c' has 5 bytes, its type and shape need 6");
  Giving many;
  EXPECT_EQ(Refusal(many.Give(many.Scaled("c", {2, 3}, "abcd", kU8, scales, {3, 1, 3}))),
            "bad model: constant 'c' has 4 bytes, its type and shape need 3");
  const std::string outside = "bad model: the scales of constant 'c' lie outside of the data file or are not aligned";
  for (const int64_t offset : {int64_t{8}, int64_t{128}, int64_t{192}, INT64_MAX, INT64_MAX - 63}) {
    Giving model;
    EXPECT_EQ(Refusal(model.Give(model.Scaled("c", {2, 3}, six, kS8, scales, {3, 1, 3, 1, offset}))), outside)
        << offset;
  }
  Giving longer;  // two scales where one is there
  EXPECT_EQ(Refusal(longer.Give(longer.Scaled("c", {2, 3}, six, kS8, "1234", {3, 1, 3}))), outside);
  Giving type;
  EXPECT_EQ(Refusal(type.Give(type.Scaled("c", {2, 3}, six, kS8, scales, {3, 1, 3}, kS8))),
            "bad model: constant 'c' is stored as a type that is not its own (only f32 may be stored as f16 or bf16)");
  Giving none;
  EXPECT_EQ(Refusal(none.Give(none.Scaled("c", {2, 3}, "", 99, scales, {3, 1, 3}))),
            "bad model: the scales of constant 'c' do not fit it");
}

TEST(Scaled, ALibraryThatHasNoSuchModelSaysSo) {
  Giving model;
  model.Give(model.Scaled("c", {2, 3}, "abcdef", kS8, std::string(24, '\1'), {3, 1, 3}));
  const std::string bytes = model.Model();
  lathe_error error = {};
  lathe_engine_options options = {};
  options.struct_size = sizeof(options);
  options.model = {bytes.data(), bytes.size()};
  options.data = {model.data().data(), model.data().size()};
  lathe_engine* engine = nullptr;
  EXPECT_EQ(lathe_api_test_b()->engine_create(&options, &engine, &error), LATHE_UNSUPPORTED);
  EXPECT_EQ(engine, nullptr);
  EXPECT_STREQ(error.message, "constant 'c' has integers with scales, which 'test_b' cannot read");
}

}  // namespace
}  // namespace lathe_test
