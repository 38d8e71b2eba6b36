/* Functions of single numbers for loops that are made of definitions. C does not have them, or means something else. */
#ifndef LATHE_MICRO_OPS_DEFINITION_H_
#define LATHE_MICRO_OPS_DEFINITION_H_

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "procedures.h"

/* Definitions ask of all types what only some can be: below 0, for example. */
#pragma GCC diagnostic ignored "-Wtype-limits"

/* A number that is stored as bf16. */
static inline float lm_widened(uint16_t stored) {
  union {
    uint32_t bits;
    float number;
  } found = {(uint32_t)stored << 16};
  return found.number;
}

/* The bits of a number, and the number of bits. */
static inline int32_t lm_bits_of(float number) {
  union {
    float number;
    int32_t bits;
  } found = {number};
  return found.bits;
}
static inline float lm_of_bits(uint32_t bits) {
  union {
    uint32_t bits;
    float number;
  } found = {bits};
  return found.number;
}

/* What is not a number comes before all others. */
static inline float lm_max_f(float a, float b) { return a > b || a != a ? a : b; }
static inline float lm_min_f(float a, float b) { return a < b || a != a ? a : b; }
static inline float lm_square_f(float a) { return a * a; }
static inline float lm_sign_f(float a) { return a > 0.0f ? 1.0f : a < 0.0f ? -1.0f : a; }

/* The rest has the sign of the divisor. */
static inline float lm_mod_f(float a, float b) {
  const float rest = fmodf(a, b);
  return rest != 0.0f && (rest < 0.0f) != (b < 0.0f) ? rest + b : rest;
}

static inline float lm_log_add_exp(float a, float b) {
  const float high = a > b ? a : b, low = a > b ? b : a;
  return a == b ? a + 0.69314718f : high + log1pf(expf(low - high));
}

static inline int64_t lm_max_i(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t lm_min_i(int64_t a, int64_t b) { return a < b ? a : b; }
/* Wraps around; negative exponents give 0. */
static inline int64_t lm_power_i(int64_t a, int64_t b) {
  uint64_t found = b < 0 ? 0u : 1u, factor = (uint64_t)a;
  for (; b > 0; b >>= 1, factor *= factor) {
    if (b & 1) found *= factor;
  }
  return (int64_t)found;
}
static inline int64_t lm_abs_i(int64_t a) { return a < 0 ? -a : a; }
static inline int64_t lm_sign_i(int64_t a) { return a > 0 ? 1 : a < 0 ? -1 : 0; }
/* Divisors of 0 give 0, as NumPy's do. */
static inline int64_t lm_rem_i(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }
static inline int64_t lm_mod_i(int64_t a, int64_t b) {
  const int64_t rest = lm_rem_i(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
static inline int64_t lm_floor_div_i(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return (int64_t)(0 - (uint64_t)a);
  return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}
static inline int64_t lm_shift_left_i(int64_t a, int64_t b) {
  return b < 0 || b > 63 ? 0 : (int64_t)((uint64_t)a << b);
}
static inline int64_t lm_shift_right_i(int64_t a, int64_t b) { return b < 0 || b > 63 ? (a < 0 ? -1 : 0) : a >> b; }
/* A place within so many elements. */
static inline int32_t lm_within(int64_t place, int32_t size) {
  return place < 0 ? 0 : place >= size ? size - 1 : (int32_t)place;
}

#endif /* LATHE_MICRO_OPS_DEFINITION_H_ */
