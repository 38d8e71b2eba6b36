/* Sums, products and tables of bytes with MVE, four numbers at a time. */
#include "fixed_point.h"

static inline int32x4_t scaled(int32x4_t values, lm_factor factor) {
  return lm_scaled_vector(values, factor.multiplier, factor.shift);
}

static inline void store(int8_t* y, int32x4_t values, const lm_bounds* bounds, mve_pred16_t valid) {
  values = vaddq_n_s32(values, bounds->out_zero);
  values = vminq_s32(vmaxq_s32(values, vdupq_n_s32(bounds->low)), vdupq_n_s32(bounds->high));
  vstrbq_p_s32(y, values, valid);
}

static inline int32x4_t product(int32x4_t values, int32_t multiplier, int right) {
  values = vqrdmulhq_n_s32(values, multiplier);
  return vrshlq_n_s32(vaddq_s32(values, vshrq_n_s32(values, 31)), -right);
}

static void add_terms(const int8_t* a, const int8_t* b, int8_t* y, size_t count, const lm_add* layer) {
  const lm_term first = lm_term_of(layer->first), second = lm_term_of(layer->second);
  const lm_factor sum = layer->sum;
  for (int32_t left = (int32_t)count; left > 0; left -= 4, a += 4, b += 4, y += 4) {
    const int32x4_t one = vshlq_r_s32(vsubq_n_s32(vldrbq_s32(a), layer->first_zero), first.left);
    const int32x4_t other = vshlq_r_s32(vsubq_n_s32(vldrbq_s32(b), layer->second_zero), second.left);
    const int32x4_t both =
        vaddq_s32(product(one, first.multiplier, first.right), product(other, second.multiplier, second.right));
    store(y, product(both, sum.multiplier, -sum.shift), &layer->bounds, vctp32q((uint32_t)left));
  }
}

void lm_add_s8(const int8_t* a, const int8_t* b, int8_t* y, size_t count, const lm_add* layer) {
  const lm_factor first = layer->first, second = layer->second, sum = layer->sum;
  if (lm_has_term(first) && lm_has_term(second) && sum.shift < 0) {
    add_terms(a, b, y, count, layer);
    return;
  }
  for (int32_t left = (int32_t)count; left > 0; left -= 4, a += 4, b += 4, y += 4) {
    const int32x4_t one = vshlq_n_s32(vsubq_n_s32(vldrbq_s32(a), layer->first_zero), 20);
    const int32x4_t other = vshlq_n_s32(vsubq_n_s32(vldrbq_s32(b), layer->second_zero), 20);
    store(y, scaled(vaddq_s32(scaled(one, first), scaled(other, second)), sum), &layer->bounds,
          vctp32q((uint32_t)left));
  }
}

void lm_mul_s8(const int8_t* a, const int8_t* b, int8_t* y, size_t count, const lm_mul* layer) {
  for (int32_t left = (int32_t)count; left > 0; left -= 4, a += 4, b += 4, y += 4) {
    const int32x4_t one = vsubq_n_s32(vldrbq_s32(a), layer->first_zero);
    const int32x4_t other = vsubq_n_s32(vldrbq_s32(b), layer->second_zero);
    store(y, scaled(vmulq_s32(one, other), layer->product), &layer->bounds, vctp32q((uint32_t)left));
  }
}

void lm_table_s8(const int8_t* x, int8_t* y, size_t count, const int8_t* table) {
  for (; count != 0; --count) *y++ = table[*x++ + 128];
}

void lm_mean_s8(const int8_t* x, int8_t* y, const lm_mean* layer) {
  for (int32_t left = layer->channels; left > 0; left -= 4, x += 4, y += 4) {
    int32x4_t sum = vdupq_n_s32(-layer->count * layer->bounds.in_zero);
    const int8_t* from = x;
    for (int32_t i = 0; i < layer->count; ++i, from += layer->channels) sum = vaddq_s32(sum, vldrbq_s32(from));
    store(y, scaled(sum, layer->factor), &layer->bounds, vctp32q((uint32_t)left));
  }
}
