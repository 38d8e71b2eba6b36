/* Sums, products and tables of bytes, for any processor. */
#include "fixed_point.h"

/* The product and the shift to the right. A value has at most 30 bits. */
static inline int32_t scaled(int32_t value, int32_t multiplier, int right) {
#if LATHE_MICRO_DSP
  value = lm_smmulr(lm_shifted_left(value, 1), multiplier);
#else
  value = lm_high_product(value, multiplier);
#endif
  return (value + (value >> 31) + ((int32_t)1 << (right - 1))) >> right;
}

static void add_terms(const int8_t* a, const int8_t* b, int8_t* y, size_t count, const lm_add* layer) {
  const lm_term first = lm_term_of(layer->first), second = lm_term_of(layer->second);
  const int32_t first_zero = layer->first_zero, second_zero = layer->second_zero, zero = layer->bounds.out_zero;
  const int32_t multiplier = layer->sum.multiplier, low = layer->bounds.low, high = layer->bounds.high;
  const int right = -layer->sum.shift;
  for (const int8_t* const end = a + count; a < end; ++a, ++b, ++y) {
    const int32_t one = scaled(lm_shifted_left(*a - first_zero, first.left), first.multiplier, first.right);
    const int32_t other = scaled(lm_shifted_left(*b - second_zero, second.left), second.multiplier, second.right);
    *y = lm_clamped(scaled(one + other, multiplier, right) + zero, low, high);
  }
}

void lm_add_s8(const int8_t* a, const int8_t* b, int8_t* y, size_t count, const lm_add* layer) {
  const lm_factor first = layer->first, second = layer->second, sum = layer->sum;
  if (lm_has_term(first) && lm_has_term(second) && sum.shift < 0) {
    add_terms(a, b, y, count, layer);
    return;
  }
  const int32_t first_zero = layer->first_zero, second_zero = layer->second_zero;
  for (; count != 0; --count) {
    const int32_t left = lm_scaled(lm_shifted_left(*a++ - first_zero, 20), first.multiplier, first.shift);
    const int32_t right = lm_scaled(lm_shifted_left(*b++ - second_zero, 20), second.multiplier, second.shift);
    const int32_t value = lm_scaled(left + right, sum.multiplier, sum.shift) + layer->bounds.out_zero;
    *y++ = lm_clamped(value, layer->bounds.low, layer->bounds.high);
  }
}

void lm_mul_s8(const int8_t* a, const int8_t* b, int8_t* y, size_t count, const lm_mul* layer) {
  for (; count != 0; --count) {
    const int32_t product = (*a++ - layer->first_zero) * (*b++ - layer->second_zero);
    const int32_t value = lm_scaled(product, layer->product.multiplier, layer->product.shift);
    *y++ = lm_clamped(value + layer->bounds.out_zero, layer->bounds.low, layer->bounds.high);
  }
}

void lm_table_s8(const int8_t* x, int8_t* y, size_t count, const int8_t* table) {
  for (; count != 0; --count) *y++ = table[*x++ + 128];
}

void lm_mean_s8(const int8_t* x, int8_t* y, const lm_mean* layer) {
  for (int32_t channel = 0; channel < layer->channels; ++channel) {
    int32_t sum = -layer->count * layer->bounds.in_zero;
    const int8_t* from = x + channel;
    for (int32_t i = 0; i < layer->count; ++i, from += layer->channels) sum += *from;
    sum = lm_scaled(sum, layer->factor.multiplier, layer->factor.shift) + layer->bounds.out_zero;
    *y++ = lm_clamped(sum, layer->bounds.low, layer->bounds.high);
  }
}
