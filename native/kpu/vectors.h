/* The loops of the KPU in software that vector units do: products of bytes, and what follows the sums.
 *
 * A tile holds channels in pairs: a pixel of one, the same pixel of the other, the next pixel of the one. A vector unit
 * multiplies bytes of both and adds the two products in one or two instructions. Whole numbers below 2^53 are exact in
 * double precision, so that batch norm and activation can be computed there where no number is larger.
 */
#ifndef LATHE_KPU_VECTORS_H_
#define LATHE_KPU_VECTORS_H_

#include <stddef.h>
#include <stdint.h>

enum {
  KPU_STEP = 16,       /* pixels that are computed at once: what is behind the last is computed, too */
  KPU_TOGETHER = 4,    /* lanes that are multiplied at once */
  KPU_MOST_PAIRS = 512 /* of a tile, times the taps of a kernel */
};

/* Products of a tile with the weights of KPU_TOGETHER lanes. */
typedef struct kpu_products {
  const uint8_t* tile;
  uint32_t pairs, pair_bytes;
  uint32_t taps;
  uint32_t offsets[9];     /* of taps, in pixels */
  const uint32_t* weights; /* of each pair, tap and lane: one byte in each half */
  uint32_t pixels;
} kpu_products;

/* A piece of the activation: slope * (value - origin) + bias, from `start` on. */
typedef struct kpu_piece {
  double start, origin, slope, bias;
} kpu_piece;

/* What makes bytes of the sums of a lane, which are signed where weights were. */
typedef struct kpu_finish {
  const uint32_t* sums;
  const double* pixel_terms;
  double lane_term, factor, scale, addend; /* scale: the batch norm's shift as a factor */
  const kpu_piece* pieces;
  uint32_t piece_count;
  uint32_t pixels;
  uint8_t* results;
} kpu_finish;

typedef struct kpu_vectors {
  void (*interleave)(uint8_t* to, const uint8_t* even, const uint8_t* odd, uint32_t count);
  /* Adds to KPU_TOGETHER rows of sums, `stride` apart. */
  void (*multiply)(const kpu_products* products, uint32_t* sums, uint32_t stride);
  /* The nine taps of one channel, whose rows are `stride` apart. Weights are signed, so that they may hold zero points.
   */
  void (*add_window)(uint32_t* sums, const uint8_t* in, uint32_t stride, const int16_t* weights, uint32_t pixels);
  void (*finish)(const kpu_finish* lane);
} kpu_vectors;

extern const kpu_vectors kpu_vectors_avx2;
extern const kpu_vectors kpu_vectors_neon;

/* LATHE_KPU_PORTABLE leaves them out. */
#if !defined(LATHE_KPU_PORTABLE) && defined(__x86_64__) && defined(__GNUC__)
enum { KPU_MAY_HAVE_VECTORS = 1 };
static inline const kpu_vectors* kpu_vectors_here(void) {
  return __builtin_cpu_supports("avx2") ? &kpu_vectors_avx2 : NULL;
}
#elif !defined(LATHE_KPU_PORTABLE) && defined(__aarch64__) && defined(__ARM_NEON)
enum { KPU_MAY_HAVE_VECTORS = 1 };
static inline const kpu_vectors* kpu_vectors_here(void) { return &kpu_vectors_neon; }
#else
enum { KPU_MAY_HAVE_VECTORS = 0 };
static inline const kpu_vectors* kpu_vectors_here(void) { return NULL; }
#endif

#endif /* LATHE_KPU_VECTORS_H_ */
