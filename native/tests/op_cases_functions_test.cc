// Elementary functions on double against libm in long double, over numbers of all sizes, and remainders against C's.
#include "native/kernel/math/functions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace lathe {
namespace {

// Numbers of every sign and exponent, and as many between `low` and `high`.
template <typename F>
void ForNumbers(double low, double high, const F& f) {
  std::mt19937_64 bits(1);
  for (int i = 0; i < 50000; ++i) {
    f(DoubleOf(bits()));
    f(low + (high - low) * static_cast<double>(bits() >> 11) * 0x1p-53);
  }
  for (const double x : {0.0, -0.0, 1.0, -1.0, 5e-324, 1.7976931348623157e308, 0.5, 1e22, HUGE_VAL, -HUGE_VAL}) f(x);
  f(std::numeric_limits<double>::quiet_NaN());
}

// Distance in units of the last place of the true value rounded to double.
double Ulps(double have, long double truth) {
  const double want = static_cast<double>(truth);
  if (have == want || (std::isnan(have) && std::isnan(want))) return 0;
  if (!std::isfinite(have) || !std::isfinite(want)) return HUGE_VAL;
  const double size = std::fabs(want);
  return static_cast<double>(std::fabs(have - truth)) / (std::nextafter(size, HUGE_VAL) - size);
}

template <typename Function, typename Truth>
void ExpectClose(Function function, Truth truth, double low, double high) {
  // Where long double is double, the truth has errors of its own.
  const double most = sizeof(long double) > sizeof(double) ? 4.0 : 6.0;
  double worst = 0;
  double at = 0;
  ForNumbers(low, high, [&](double x) {
    const double error = Ulps(function(x), truth(static_cast<long double>(x)));
    if (error > worst) at = x;
    worst = error > worst ? error : worst;
  });
  EXPECT_LE(worst, most) << "at " << at;
}

#define FUNCTION_TEST(name, function, truth, low, high)                            \
  TEST(Functions, name) {                                                          \
    ExpectClose(function, [](long double x) { return std::truth(x); }, low, high); \
  }
FUNCTION_TEST(Sin, Sin64, sin, -50, 50)
FUNCTION_TEST(Cos, Cos64, cos, -50, 50)
FUNCTION_TEST(Tan, Tan64, tan, -50, 50)
FUNCTION_TEST(Asin, Asin64, asin, -1, 1)
FUNCTION_TEST(Acos, Acos64, acos, -1, 1)
FUNCTION_TEST(Atan, Atan64, atan, -3, 3)
FUNCTION_TEST(Sinh, Sinh64, sinh, -3, 3)
FUNCTION_TEST(Cosh, Cosh64, cosh, -3, 3)
FUNCTION_TEST(Tanh, Tanh64, tanh, -3, 3)
FUNCTION_TEST(Asinh, Asinh64, asinh, -3, 3)
FUNCTION_TEST(Acosh, Acosh64, acosh, 1, 4)
FUNCTION_TEST(Atanh, Atanh64, atanh, -1, 1)
FUNCTION_TEST(Exp, Exp64, exp, -50, 50)
FUNCTION_TEST(Expm1, Expm164, expm1, -2, 2)
FUNCTION_TEST(Log, Log64, log, 0, 4)
FUNCTION_TEST(Log1p, Log1p64, log1p, -1, 3)
#undef FUNCTION_TEST

TEST(Functions, Round) {
  ForNumbers(-9, 9, [](double x) {
    EXPECT_EQ(Ulps(RoundOf(x), std::nearbyint(x)), 0) << x;
    const float narrow = static_cast<float>(x);
    EXPECT_EQ(Ulps(RoundOf(narrow), std::nearbyint(narrow)), 0) << x;
  });
}

TEST(Functions, RemaindersAreExact) {
  std::mt19937_64 bits(2);
  for (int i = 0; i < 100000; ++i) {
    const double a = DoubleOf(bits());
    const double b = DoubleOf(bits());
    const double near = DoubleOf((BitsOf(b) & ~(uint64_t{0xff} << 52)) | (BitsOf(a) & (uint64_t{0xff} << 52)));
    EXPECT_EQ(Ulps(FmodOf(a, b), std::fmod(a, b)), 0) << a << " " << b;
    EXPECT_EQ(Ulps(FmodOf(a, near), std::fmod(a, near)), 0) << a << " " << near;
    EXPECT_EQ(Ulps(FmodOf(static_cast<float>(a), static_cast<float>(b)),
                   std::fmod(static_cast<float>(a), static_cast<float>(b))),
              0);
  }
}

TEST(Functions, PowersOfWholeNumbersAreWhole) {
  for (int base = -9; base <= 9; ++base) {
    for (int exponent = 0; exponent <= 16; ++exponent) {
      EXPECT_EQ(PowOf(static_cast<double>(base), static_cast<double>(exponent)), std::pow(base, exponent));
    }
  }
  EXPECT_EQ(PowOf(4.0, -1.0), 0.25);
  EXPECT_TRUE(std::isnan(PowOf(-2.0, 0.5)));
  EXPECT_EQ(PowOf(0.0, -1.0), HUGE_VAL);
  EXPECT_EQ(PowOf(-0.0, -3.0), -HUGE_VAL);
  EXPECT_LE(Ulps(PowOf(1.5, 200.5), std::pow(1.5L, 200.5L)), 200);
}

}  // namespace
}  // namespace lathe
