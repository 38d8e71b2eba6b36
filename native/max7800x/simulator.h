/* The arithmetic of the accelerator, fast and to the last bit: equal to
   buildtool/targets/max7800x/simulation/simulate.py.

   Whoever calls has checked all sizes (checks.py). Nothing is allocated, and nothing is shared between calls: threads
   may run the same network at once, each with its own outputs and scratch memory. */
#ifndef LATHE_MAX7800X_SIMULATOR_H_
#define LATHE_MAX7800X_SIMULATOR_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define LATHE_MAX7800X_EXPORT __attribute__((visibility("default")))
#else
#define LATHE_MAX7800X_EXPORT
#endif

#define LATHE_MAX7800X_INPUT (-1)   /* in `sources` */
#define LATHE_MAX7800X_TAP_BLOCK 32 /* the weights of an output are padded with zeros to a multiple of this */

typedef struct lathe_max7800x_size {
  int32_t rows, columns;
} lathe_max7800x_size;

enum { LATHE_MAX7800X_NO_ELTWISE, LATHE_MAX7800X_ADD, LATHE_MAX7800X_SUB, LATHE_MAX7800X_OR, LATHE_MAX7800X_XOR };
enum { LATHE_MAX7800X_NO_POOL, LATHE_MAX7800X_MAX, LATHE_MAX7800X_AVERAGE, LATHE_MAX7800X_ROUNDED_AVERAGE };
enum { LATHE_MAX7800X_NO_ACTIVATION, LATHE_MAX7800X_RELU, LATHE_MAX7800X_ABS };

/* One layer. Values are planes, one for each channel, behind each other. */
typedef struct lathe_max7800x_layer {
  const int32_t* sources; /* positions of layers */
  int32_t source_count;
  int32_t joins_pixels;   /* sources lie behind each other in each channel, else channel behind channel */
  int32_t in_pixels;      /* of one channel of the sources together */
  int32_t skipped_pixels; /* at the start of each channel */
  int32_t operand_stride; /* channels from one operand to the next */
  int32_t skipped_channels;
  int32_t in_channels;
  lathe_max7800x_size in_size;
  int32_t operands;
  int32_t eltwise;
  int32_t eltwise_saturates;
  int32_t pool_first;
  int32_t pool;
  lathe_max7800x_size pool_size, pool_stride, pool_dilation;
  lathe_max7800x_size pooled_size;
  /* without weights the layer ends here */
  const int16_t* weights; /* [out][row, column, channel of the group; padded] */
  const int32_t* bias;    /* as added to the sums */
  int32_t flattens;
  lathe_max7800x_size kernel, stride, dilation, pad;
  lathe_max7800x_size padded_size; /* of the picture: stuffed, and with all padding */
  lathe_max7800x_size stuffing;    /* from one value to the next */
  int32_t groups;
  int32_t right_shift; /* of the sums; negative: to the left */
  int32_t activation;
  int32_t out_channels;
  lathe_max7800x_size out_size;
  int32_t wide; /* the output is int32_t, else int8_t */
} lathe_max7800x_layer;

typedef struct lathe_max7800x_network {
  const lathe_max7800x_layer* layers;
  const int32_t* order; /* positions of the layers that run */
  int32_t order_count;
  int32_t in_channels;
  lathe_max7800x_size in_size;
} lathe_max7800x_network;

/* How much scratch memory a run of the network needs, in bytes. */
LATHE_MAX7800X_EXPORT size_t lathe_max7800x_scratch(const lathe_max7800x_network* network);

/* Computes `outputs[position]` of every layer that runs; what of `scratch` is used is aligned to 64 bytes by this. */
LATHE_MAX7800X_EXPORT void lathe_max7800x_simulate(const lathe_max7800x_network* network, const int8_t* sample,
                                                   void* const* outputs, void* scratch);

#endif /* LATHE_MAX7800X_SIMULATOR_H_ */
