/* Kernels of networks for microcontrollers: what generated sources call. C99, no heap, no library but memcpy.
 *
 * Images are stored [rows][columns][channels]. Every number that a kernel needs is in a constant structure. How weights
 * are packed depends on the instruction set, which lathe_micro_config.h names (buildtool/targets/micro/packing).
 */
#ifndef LATHE_MICRO_H_
#define LATHE_MICRO_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How stored results are limited, and what stands for zero. */
typedef struct lm_bounds {
  int8_t in_zero, out_zero, low, high;
} lm_bounds;

typedef struct lm_image {
  uint16_t in_h, in_w, in_c, out_h, out_w, out_c;
  uint8_t kernel_h, kernel_w, stride_h, stride_w, pad_top, pad_left, dilation_h, dilation_w;
} lm_image;

/* By output channel: bias and multiplier in turns, and the shift to the left. The bias contains what the zero point of
 * the input contributes, so that kernels multiply the stored bytes. */
typedef struct lm_scaling {
  const int32_t* pairs;
  const int8_t* shifts;
  int all_right; /* whether all shifts are to the right, by one or more */
} lm_scaling;

typedef struct lm_conv {
  const int8_t* weights;
  lm_scaling scaling;
  lm_image image;
  lm_bounds bounds;
} lm_conv;

typedef struct lm_dense {
  const int8_t* weights;
  lm_scaling scaling;
  uint16_t rows, in_c, out_c;
  lm_bounds bounds;
} lm_dense;

typedef struct lm_pool {
  lm_image image;
  lm_bounds bounds;
} lm_pool;

/* A multiplier and a shift to the left. */
typedef struct lm_factor {
  int32_t multiplier;
  int32_t shift;
} lm_factor;

typedef struct lm_add {
  lm_factor first, second, sum;
  int32_t first_zero, second_zero;
  lm_bounds bounds;
} lm_add;

typedef struct lm_mul {
  lm_factor product;
  int32_t first_zero, second_zero;
  lm_bounds bounds;
} lm_mul;

typedef struct lm_mean {
  lm_factor factor;
  int32_t count, channels;
  lm_bounds bounds;
} lm_mean;

typedef struct lm_pad {
  uint16_t in_h, in_w, in_c, out_h, out_w, top, left;
  int8_t value;
} lm_pad;

/* Copies in another order: loops from the innermost one on, with the bytes of x from one to the next. */
#define LM_MOVE_LOOPS 6
typedef struct lm_move {
  int32_t start;
  int32_t counts[LM_MOVE_LOOPS], steps[LM_MOVE_LOOPS];
} lm_move;

/* By unit: the weights of its gates (in, forget, new, out) for the input, then for the last outputs; and their biases
 * in the same order, which contain what the zero points contribute. Cells have `cell_shift` fraction bits. */
typedef struct lm_lstm {
  const int8_t* weights;
  const int32_t* biases;
  lm_factor given[4], kept[4], hidden;
  uint32_t in_batch, in_step, out_batch, out_step; /* bytes from one to the next */
  uint16_t batches, steps, in_c, units;
  int16_t cell_shift, clip;
  int8_t zero;
} lm_lstm;

typedef struct lm_svdf {
  const int8_t* weights;
  const int32_t* filter_biases; /* what the zero point of the input contributes */
  const int16_t* times;
  const int32_t* biases;
  lm_factor filtered, stored;
  uint16_t batches, in_c, filters, memory, rank;
  int8_t zero;
} lm_svdf;

/* Activations of 16 bits, without zero points. Multipliers have 15 bits; `exact`: 31. */
typedef struct lm_conv16 {
  const int8_t* weights;
  const int64_t* biases;
  const int32_t* multipliers;
  const int8_t* shifts;
  lm_image image;
  int16_t low, high;
  int16_t exact;
} lm_conv16;

typedef struct lm_limits {
  int16_t low, high;
} lm_limits;

typedef struct lm_pool16 {
  lm_image image;
  lm_limits limits;
} lm_pool16;

typedef struct lm_add16 {
  lm_factor first, second, sum;
  lm_limits limits;
} lm_add16;

typedef struct lm_scale16 {
  lm_factor factor;
  lm_limits limits;
} lm_scale16;

void lm_conv_s8(const int8_t* x, int8_t* y, void* scratch, const lm_conv* layer);
void lm_depthwise_s8(const int8_t* x, int8_t* y, void* scratch, const lm_conv* layer);
/* The same, several channels of a place at a time: only with MVE. */
void lm_depthwise_channels_s8(const int8_t* x, int8_t* y, void* scratch, const lm_conv* layer);
void lm_dense_s8(const int8_t* x, int8_t* y, const lm_dense* layer);
/* The same with weights of 4 bits, two a byte, rows filled up to bytes. `scratch`: two patches, and 16 bytes. */
void lm_conv_s4(const int8_t* x, int8_t* y, void* scratch, const lm_conv* layer);
void lm_dense_s4(const int8_t* x, int8_t* y, const lm_dense* layer);
/* `count` weights for the kernel that is called with them. */
typedef void lm_depthwise_kernel(const int8_t* x, int8_t* y, void* scratch, const lm_conv* layer);
void lm_depthwise_s4(const int8_t* x, int8_t* y, void* scratch, const lm_conv* layer, uint32_t count,
                     lm_depthwise_kernel* kernel);
void lm_max_pool_s8(const int8_t* x, int8_t* y, const lm_pool* layer);
void lm_average_pool_s8(const int8_t* x, int8_t* y, const lm_pool* layer);
void lm_mean_s8(const int8_t* x, int8_t* y, const lm_mean* layer);
void lm_add_s8(const int8_t* a, const int8_t* b, int8_t* y, size_t count, const lm_add* layer);
void lm_mul_s8(const int8_t* a, const int8_t* b, int8_t* y, size_t count, const lm_mul* layer);
void lm_table_s8(const int8_t* x, int8_t* y, size_t count, const int8_t* table);
void lm_softmax_s8(const int8_t* x, int8_t* y, size_t rows, size_t columns, const int32_t* exponentials);
/* The layer begins at zero in each run. `scratch`: cells and outputs, 3 bytes a unit. */
void lm_lstm_s8(const int8_t* x, int8_t* y, void* scratch, const lm_lstm* layer);
/* What filters give behind what they gave before; `kept` may be `past`. Then the weights over time. */
void lm_svdf_filters_s8(const int8_t* x, const int16_t* past, int16_t* kept, const lm_svdf* layer);
void lm_svdf_times_s8(const int16_t* kept, int8_t* y, const lm_svdf* layer);
/* One input of a concatenation: `run` bytes into each of `rows` rows of `pitch` bytes. */
void lm_copy_rows(const int8_t* x, int8_t* y, size_t rows, size_t run, size_t pitch);
void lm_pad_s8(const int8_t* x, int8_t* y, const lm_pad* layer);
void lm_move_s8(const int8_t* x, int8_t* y, const lm_move* layer);
/* Any order: `count` runs of bytes, from their places in x. */
void lm_gather_s8(const int8_t* x, int8_t* y, size_t count, size_t run, const int32_t* places);
/* Moves bytes down to an earlier place of the same memory. */
void lm_keep(const int8_t* x, int8_t* y, size_t size);
void lm_conv_s16(const int16_t* x, int16_t* y, const lm_conv16* layer);
void lm_depthwise_s16(const int16_t* x, int16_t* y, const lm_conv16* layer);
void lm_max_pool_s16(const int16_t* x, int16_t* y, const lm_pool16* layer);
void lm_average_pool_s16(const int16_t* x, int16_t* y, const lm_pool16* layer);
void lm_add_s16(const int16_t* a, const int16_t* b, int16_t* y, size_t count, const lm_add16* layer);
void lm_mul_s16(const int16_t* a, const int16_t* b, int16_t* y, size_t count, const lm_scale16* layer);
void lm_rescale_s16(const int16_t* x, int16_t* y, size_t count, const lm_scale16* layer);
/* Between the entries of a table of sigmoid(i / 24); x * multiplier / 2^shift counts steps of 1 / 12288. */
void lm_sigmoid_s16(const int16_t* x, int16_t* y, size_t count, int32_t multiplier, int shift, const uint16_t* table);
void lm_tanh_s16(const int16_t* x, int16_t* y, size_t count, int32_t multiplier, int shift, const uint16_t* table);
/* Tables of exp(-10 to 0) and of 1 / (1 + x), with 513 entries. */
void lm_softmax_s16(const int16_t* x, int16_t* y, size_t rows, size_t columns, lm_factor factor,
                    const int16_t* exponentials, const int16_t* inverses);
void lm_quantize_s8(const float* x, int8_t* y, size_t count, float scale, int zero);
void lm_dequantize_s8(const int8_t* x, float* y, size_t count, float scale, int zero);

#ifdef __cplusplus
}
#endif

#endif /* LATHE_MICRO_H_ */
