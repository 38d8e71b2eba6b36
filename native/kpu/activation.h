/* The activation of a layer of the KPU, as whole numbers and as pieces for vector units. */
#ifndef LATHE_KPU_ACTIVATION_H_
#define LATHE_KPU_ACTIVATION_H_

#include "layer.h"
#include "vectors.h"

/* The activation, in a form that is quick to search. */
typedef struct kpu_activation {
  int64_t starts[KPU_SEGMENTS]; /* the smallest of this one and those behind it */
  int64_t origins[KPU_SEGMENTS];
  int64_t factors[KPU_SEGMENTS];
  uint32_t shifts[KPU_SEGMENTS];
  uint32_t biases[KPU_SEGMENTS];
  kpu_piece pieces[KPU_SEGMENTS]; /* those that differ from the one in front, for vector units */
  uint32_t piece_count;
} kpu_activation;

static inline void kpu_read_activation(const uint8_t* from, kpu_activation* out) {
  for (uint32_t i = 0; i < KPU_SEGMENTS; ++i) {
    const uint64_t word = kpu_long(from + (size_t)i * 8);
    out->shifts[i] = kpu_bits(word, 0, 8);
    out->factors[i] = kpu_signed_bits(word, 8, 16);
    out->origins[i] = kpu_signed_bits(word, 24, 36);
    out->starts[i] = out->origins[i];
    out->biases[i] = from[KPU_SEGMENTS * 8 + i];
  }
  for (uint32_t i = KPU_SEGMENTS - 1; i-- > 0;) {
    if (out->starts[i + 1] < out->starts[i]) out->starts[i] = out->starts[i + 1];
  }
}

/* The same for vector units, without segments that nothing reaches or that go on as the one in front. */
static inline void kpu_find_pieces(kpu_activation* act) {
  act->piece_count = 0;
  for (uint32_t i = 0; i < KPU_SEGMENTS; ++i) {
    kpu_piece piece = {(double)act->starts[i], (double)act->origins[i], (double)act->factors[i],
                       (double)act->biases[i]};
    if (i != 0 && i + 1 < KPU_SEGMENTS && act->starts[i + 1] == act->starts[i]) continue;
    for (uint32_t bit = 0; bit < act->shifts[i]; ++bit) piece.slope *= 0.5;
    const kpu_piece* before = act->pieces + act->piece_count - (act->piece_count != 0);
    const bool goes_on = act->piece_count != 0 && before->origin == piece.origin && before->slope == piece.slope &&
                         before->bias == piece.bias;
    if (!goes_on) act->pieces[act->piece_count++] = piece;
  }
}

/* Numbers that leave 64 bits wrap around. */
static inline int64_t kpu_wrapped_product(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }

static inline int64_t kpu_wrapped_sum(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }

/* To the nearest, halves up. */
static inline int64_t kpu_rounded_shift(int64_t value, uint32_t shift) {
  if (shift == 0) return value;
  return kpu_wrapped_sum(value >> (shift > 64 ? 63 : shift - 1), 1) >> 1;
}

static inline uint8_t kpu_activated(const kpu_activation* act, int64_t value) {
  uint32_t segment = 0;
  for (uint32_t half = KPU_SEGMENTS / 2; half != 0; half /= 2) {
    if (act->starts[segment + half] <= value) segment += half;
  }
  const int64_t scaled = kpu_wrapped_product(kpu_wrapped_sum(value, -act->origins[segment]), act->factors[segment]);
  const int64_t result = kpu_wrapped_sum(kpu_rounded_shift(scaled, act->shifts[segment]), act->biases[segment]);
  return (uint8_t)(result < 0 ? 0 : result > 255 ? 255 : result);
}

#endif /* LATHE_KPU_ACTIVATION_H_ */
