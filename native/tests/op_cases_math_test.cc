// The elementary functions of kernels against libm in double, over floats of all sizes.
#include <gtest/gtest.h>

#include <cmath>

#include "native/kernel/math/convert.h"
#include "native/kernel/math/math.h"

namespace lathe {
namespace {

// Distance in units of the last place of the true value rounded to float.
double Ulps(float have, double truth) {
  const float want = static_cast<float>(truth);
  if (have == want || (std::isnan(have) && std::isnan(want))) return 0;
  if (!std::isfinite(have) || !std::isfinite(want)) return HUGE_VAL;
  const float size = std::fabs(want);
  return std::fabs(have - truth) / (std::nextafterf(size, INFINITY) - size);
}

template <typename Function, typename Truth>
void ExpectClose(Function function, Truth truth) {
  double worst = 0;
  float at = 0;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 65521) {
    const uint32_t pattern = static_cast<uint32_t>(bits);
    float x;
    memcpy(&x, &pattern, sizeof x);
    const double error = Ulps(function(x), truth(static_cast<double>(x)));
    if (error > worst) at = x;
    worst = error > worst ? error : worst;
  }
  EXPECT_LE(worst, 1.0) << "at " << at;
}

TEST(Math, Exp) {
  ExpectClose(Expf, [](double x) { return std::exp(x); });
}
TEST(Math, Log) {
  ExpectClose(Logf, [](double x) { return std::log(x); });
}
TEST(Math, Tanh) {
  ExpectClose(Tanhf, [](double x) { return std::tanh(x); });
}
TEST(Math, Erf) {
  ExpectClose(Erff, [](double x) { return std::erf(x); });
}
TEST(Math, Sigmoid) {
  ExpectClose(Sigmoidf, [](double x) { return 1 / (1 + std::exp(-x)); });
}
TEST(Math, Softplus) {
  ExpectClose(Softplusf, [](double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); });
}
TEST(Math, Expm1) {
  ExpectClose([](float x) { return x > 0 ? 0 : Expm1f(x); }, [](double x) { return x > 0 ? 0 : std::expm1(x); });
}

TEST(Math, Pow) {
  const float special[] = {0.0f, -0.0f, 1.0f, -1.0f, INFINITY, -INFINITY, NAN,   2.0f,        -2.0f,
                           3.0f, -3.0f, 0.5f, -0.5f, 1e-40f,   -1e-40f,   1e38f, 16777217.0f, 11.375f};
  for (const float x : special) {
    for (const float y : special) {
      const float have = Powf(x, y);
      const double truth = std::pow(static_cast<double>(x), static_cast<double>(y));
      EXPECT_LE(Ulps(have, truth), 1.0) << x << " to the power of " << y;
      if (std::isnan(truth)) continue;
      EXPECT_EQ(std::signbit(have), std::signbit(truth)) << x << " to the power of " << y;
    }
  }
}

TEST(Convert, EveryHalfComesBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float wide = FloatFromF16(static_cast<uint16_t>(bits));
    if (wide != wide) continue;
    EXPECT_EQ(HalfBits(wide), bits);
    EXPECT_EQ(Bf16Bits(FloatFromBf16(static_cast<uint16_t>(bits & 0xff80))), bits & 0xff80);
  }
}

TEST(Convert, HalfRoundsToEven) {
  EXPECT_EQ(HalfBits(1.0 + 1.0 / 2048), 0x3c00);  // half way between 1 and its neighbour
  EXPECT_EQ(HalfBits(1.0 + 3.0 / 2048), 0x3c02);
  EXPECT_EQ(HalfBits(65519.0), 0x7bff);
  EXPECT_EQ(HalfBits(65520.0), 0x7c00);
  EXPECT_EQ(HalfBits(-5.9604644775390625e-8 / 2), 0x8000);
}

TEST(Convert, FloatsAreLimited) {
  EXPECT_EQ(Convert<int8_t>(-1000.0f), -128);
  EXPECT_EQ(Convert<uint8_t>(255.9f), 255);
  EXPECT_EQ(Convert<int32_t>(2147483648.0f), INT32_MAX);
  EXPECT_EQ(Convert<int64_t>(-INFINITY), INT64_MIN);
  EXPECT_EQ(Convert<uint64_t>(1e30), UINT64_MAX);
  EXPECT_EQ(Convert<int32_t>(NAN), 0);
  EXPECT_EQ(Convert<int8_t>(int32_t{300}), 44);
}

}  // namespace
}  // namespace lathe
