/* Softmax of bytes, for any processor: the exponentials come from a table of Q0.31 by difference from the largest. */
#include "fixed_point.h"

/* 1 / (1 + x) for x in [0, 1), Q0.31, by three steps of Newton's method. */
static int32_t inverse(int32_t x) {
  const int32_t half = (int32_t)(((int64_t)x + 0x7FFFFFFF + 1) / 2);
  int32_t result = 1515870810 + lm_high_product(half, -1010580540);
  for (int i = 0; i < 3; ++i)
    result += lm_shifted_left(lm_high_product(result, ((int32_t)1 << 29) - lm_high_product(half, result)), 2);
  return result >= (int32_t)1 << 30 ? INT32_MAX : lm_shifted_left(result, 1);
}

/* A number that is not negative, divided by 2^shift. */
static uint32_t rounded(int32_t value, int shift) { return ((uint32_t)value + (1u << (shift - 1))) >> shift; }

static int leading_zeros(uint32_t value) {
#if defined(__GNUC__)
  return __builtin_clz(value);
#else
  int count = 0;
  for (; (value & 0x80000000u) == 0; value <<= 1) ++count;
  return count;
#endif
}

void lm_softmax_s8(const int8_t* x, int8_t* y, size_t rows, size_t columns, const int32_t* exponentials) {
  for (; rows != 0; --rows, x += columns, y += columns) {
    int32_t largest = -128;
    uint32_t sum = 0;
    for (size_t k = 0; k < columns; ++k)
      if (x[k] > largest) largest = x[k];
    for (size_t k = 0; k < columns; ++k) sum += rounded(exponentials[largest - x[k]], 12);
    const int headroom = leading_zeros(sum);
    const int32_t scale = inverse((int32_t)((sum << headroom) - 0x80000000u));
    for (size_t k = 0; k < columns; ++k) {
      const int32_t value = lm_high_product(exponentials[largest - x[k]], scale);
      y[k] = lm_clamped((int32_t)rounded(value, 12 - headroom + 31 - 8) - 128, -128, 127);
    }
  }
}
