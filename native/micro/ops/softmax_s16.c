/* Softmax of numbers of 16 bits: exponentials and the inverse of their sum come from tables. */
#include "fixed_point.h"

/* Between two entries, which are 128 numbers apart. */
static int32_t looked_up(int32_t value, const int16_t* table) {
  value = lm_clamped16(value, INT16_MIN, INT16_MAX);
  const int16_t* at = table + 256 + (value >> 7);
  return at[0] + (((at[1] - at[0]) * (value & 127) + 64) >> 7);
}

void lm_softmax_s16(const int16_t* x, int16_t* y, size_t rows, size_t columns, lm_factor factor,
                    const int16_t* exponentials, const int16_t* inverses) {
  for (; rows != 0; --rows, x += columns, y += columns) {
    int32_t largest = x[0];
    uint32_t sum = 0;
    for (size_t k = 1; k < columns; ++k)
      if (x[k] > largest) largest = x[k];
    for (size_t k = 0; k < columns; ++k) {
      const int32_t steps = lm_scaled(x[k] - largest, factor.multiplier, factor.shift);
      const int32_t power = looked_up(steps + 32767, exponentials);
      sum += (uint32_t)power;
      y[k] = (int16_t)power;
    }
    int headroom = 1; /* one less than the zeros in front of the sum, which is at least 32767 */
    while ((sum << headroom & 0x80000000u) == 0) ++headroom;
    const int32_t share = (int32_t)((((uint64_t)sum << (headroom - 1)) + (1 << 13)) >> 14);
    const int32_t inverse = looked_up(share - (1 << 15) - (1 << 16), inverses);
    const int right = 31 - headroom;
    for (size_t k = 0; k < columns; ++k) {
      const int32_t value = (int32_t)(((int64_t)y[k] * inverse + ((int64_t)1 << (right - 1))) >> right);
      y[k] = lm_clamped16(value, 0, INT16_MAX);
    }
  }
}
