/* Sums, products, scales and curves of numbers of 16 bits. */
#include "fixed_point.h"

void lm_add_s16(const int16_t* a, const int16_t* b, int16_t* y, size_t count, const lm_add16* layer) {
  const lm_factor first = layer->first, second = layer->second, sum = layer->sum;
  for (; count != 0; --count) {
    const int32_t left = lm_scaled(lm_shifted_left(*a++, 15), first.multiplier, first.shift);
    const int32_t right = lm_scaled(lm_shifted_left(*b++, 15), second.multiplier, second.shift);
    *y++ = lm_clamped16(lm_scaled(left + right, sum.multiplier, sum.shift), layer->limits.low, layer->limits.high);
  }
}

void lm_mul_s16(const int16_t* a, const int16_t* b, int16_t* y, size_t count, const lm_scale16* layer) {
  for (; count != 0; --count) {
    const int32_t value = lm_scaled((int32_t)*a++ * *b++, layer->factor.multiplier, layer->factor.shift);
    *y++ = lm_clamped16(value, layer->limits.low, layer->limits.high);
  }
}

void lm_rescale_s16(const int16_t* x, int16_t* y, size_t count, const lm_scale16* layer) {
  for (; count != 0; --count) {
    const int32_t value = lm_scaled(*x++, layer->factor.multiplier, layer->factor.shift);
    *y++ = lm_clamped16(value, layer->limits.low, layer->limits.high);
  }
}

/* The sigmoid of |at|, with `bits` bits behind the 16 of the table. */
static uint32_t between(uint32_t at, int bits, uint32_t most, const uint16_t* table) {
  const uint32_t place = at >> bits;
  if (place >= 255) return most;
  const uint32_t low = table[place], high = table[place + 1];
  return (low << bits) + (at & ((1u << bits) - 1)) * (high - low);
}

static int32_t place_of(int16_t x, int32_t multiplier, int shift) {
  const int32_t half = shift > 0 ? (int32_t)1 << (shift - 1) : 0;
  return (x * multiplier + half) >> shift;
}

void lm_sigmoid_s16(const int16_t* x, int16_t* y, size_t count, int32_t multiplier, int shift, const uint16_t* table) {
  for (; count != 0; --count) {
    const int32_t at = place_of(*x++, multiplier, shift);
    const uint32_t found = between((uint32_t)(at < 0 ? -at : at), 9, 0x7FFFu << 10, table);
    *y++ = (int16_t)((at >= 0 ? found + 512 : (1u << 25) - found + 511) >> 10);
  }
}

void lm_tanh_s16(const int16_t* x, int16_t* y, size_t count, int32_t multiplier, int shift, const uint16_t* table) {
  for (; count != 0; --count) {
    const int32_t at = place_of(*x++, multiplier, shift);
    const int32_t found = (int32_t)between((uint32_t)(at < 0 ? -at : at), 8, 0xFFFFu << 8, table) - (1 << 23);
    *y++ = (int16_t)((at >= 0 ? found + 128 : 127 - found) >> 8);
  }
}
