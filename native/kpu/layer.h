/* How the files of this room see a kmodel: tables of layers, and fields of their bodies. */
#ifndef LATHE_KPU_LAYER_H_
#define LATHE_KPU_LAYER_H_

#include <stdbool.h>

#include "lathe_kpu.h"

/* Whatever the flags of the compiler: products are rounded before they are added, so that all processors agree. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

enum {
  KPU_UNIT = 64,       /* bytes of a row of the KPU's memory */
  KPU_ARGUMENT = 96,   /* bytes of a layer argument */
  KPU_SEGMENTS = 16,   /* of an activation */
  KPU_ACTIVATION = 144 /* bytes of its table */
};

/* A layer where it lies: `bytes` of its body are in the file. */
typedef struct kpu_layer {
  const uint8_t* body;
  uint32_t type;
  uint32_t bytes;
} kpu_layer;

typedef lathe_kpu_status (*kpu_check)(const lathe_kpu* model, const kpu_layer* layer);
typedef void (*kpu_run)(const lathe_kpu* model, const kpu_layer* layer);

/* What there is to know of a type; `run` is NULL for a convolution, which can fail. */
typedef struct kpu_kind {
  uint32_t type;
  uint32_t fields; /* words of a body before what repeats */
  kpu_check check;
  kpu_run run;
} kpu_kind;

static inline uint32_t kpu_word(const uint8_t* bytes) {
  return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static inline uint64_t kpu_long(const uint8_t* bytes) { return kpu_word(bytes) | (uint64_t)kpu_word(bytes + 4) << 32; }

static inline uint32_t kpu_field(const kpu_layer* layer, uint32_t index) {
  return kpu_word(layer->body + (size_t)index * 4);
}

/* Bits of a word of the KPU's. */
static inline uint32_t kpu_bits(uint64_t word, uint32_t low, uint32_t count) {
  return (uint32_t)(word >> low & (((uint64_t)1 << count) - 1));
}

static inline int64_t kpu_signed_bits(uint64_t word, uint32_t low, uint32_t count) {
  return (int64_t)(word << (64 - low - count)) >> (64 - count);
}

/* How planes lie in the KPU's memory: narrow channels share rows of 64 bytes. */
typedef struct kpu_planes {
  uint32_t group; /* channels that share rows */
  uint32_t pitch; /* bytes from one of them to the next */
  uint32_t row;   /* bytes from one row to the next */
  uint32_t plane; /* bytes of one group */
} kpu_planes;

static inline kpu_planes kpu_planes_of(uint32_t width, uint32_t height) {
  kpu_planes planes = {1, KPU_UNIT, (width + KPU_UNIT - 1) / KPU_UNIT * KPU_UNIT, 0};
  if (width <= 16) {
    planes.group = 4;
    planes.pitch = 16;
  } else if (width <= 32) {
    planes.group = 2;
    planes.pitch = 32;
  }
  planes.plane = planes.row * height;
  return planes;
}

static inline size_t kpu_channel_offset(const kpu_planes* planes, uint32_t channel) {
  return (size_t)(channel / planes->group) * planes->plane + (size_t)(channel % planes->group) * planes->pitch;
}

/* How far the windows of the KPU's pools are apart. */
static inline uint32_t kpu_pool_step(uint32_t pool) {
  static const uint8_t steps[10] = {1, 2, 2, 4, 4, 2, 2, 4, 1, 1};
  return steps[pool];
}

/* Whether planes fit behind `unit`. All factors are limited to 32 bits, heights and widths to 16. */
bool kpu_fits_ram(uint32_t unit, uint32_t width, uint32_t height, uint32_t channels);
/* Whether `count` elements of `size` bytes behind an offset lie in the main memory. */
bool kpu_in_main(const lathe_kpu* model, uint32_t offset, uint64_t count, uint32_t size);

lathe_kpu_status kpu_read_convolution(const lathe_kpu* model, const kpu_layer* layer, lathe_kpu_convolution* out);
void kpu_upload(const lathe_kpu* model, uint32_t unit, uint32_t width, uint32_t height, uint32_t channels,
                const uint8_t* from);

/* One side of a pool, and a window of it, both within the input. */
typedef struct kpu_axis {
  uint32_t in, out, kernel, stride, padding;
} kpu_axis;

typedef struct kpu_window {
  uint32_t begin, end;
} kpu_window;

typedef struct kpu_pool {
  kpu_axis columns, rows;
  uint32_t channels;
  uint64_t in_count, out_count;
} kpu_pool;

/* A pool in the main memory: its fields, and that each window holds an element. */
lathe_kpu_status kpu_read_pool(const kpu_layer* layer, kpu_pool* out);
/* How many elements all its windows have, at most. */
uint64_t kpu_pool_looks(const kpu_pool* pool);
kpu_window kpu_window_of(const kpu_axis* axis, uint32_t position);
/* The product of three fields, if it is below 2^32. */
bool kpu_volume(const kpu_layer* layer, uint32_t field, uint64_t* count);
/* Elements before and after a resize, if they are sizes. */
bool kpu_resize_counts(const kpu_layer* layer, uint64_t* in, uint64_t* out);
uint32_t kpu_nearest(uint32_t position, uint32_t in, uint32_t out);

/* The kinds of layers by where their arithmetic is; each ends with a kind of type 0. */
extern const kpu_kind kpu_float_kinds[];
extern const kpu_kind kpu_byte_kinds[];

/* e to the power of x, correctly rounded but for one argument in some millions; the same bits on every processor. */
float kpu_exp(float x);

#endif /* LATHE_KPU_LAYER_H_ */
