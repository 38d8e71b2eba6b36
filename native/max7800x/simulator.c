#include "simulator.h"

#include <string.h>

/* Patches of so many pixels are multiplied at a time: they stay in the second cache. */
#define PIXEL_BLOCK 64
#define ALIGNMENT 64

typedef lathe_max7800x_layer Layer;
typedef lathe_max7800x_size Size;

/* Scratch memory of one layer; `end` is where the next part would begin. */
typedef struct Scratch {
  int8_t* joined;   /* all sources, where there are several */
  int8_t* values;   /* what goes into the convolution: planes */
  int32_t* planes;  /* two of the operands, one that is pooled */
  int16_t* picture; /* padded, the channels of a pixel side by side */
  int16_t* patches; /* for PIXEL_BLOCK pixels what the kernel covers */
  uintptr_t end;
} Scratch;

static int32_t pixels_of(Size size) { return size.rows * size.columns; }

static int32_t clamp(int32_t value) { return value < -128 ? -128 : value > 127 ? 127 : value; }

/* Whether values are changed or moved before the convolution. */
static int has_steps(const Layer* layer) {
  if (layer->in_pixels != pixels_of(layer->in_size)) return 1;
  return layer->pool != LATHE_MAX7800X_NO_POOL || layer->eltwise != LATHE_MAX7800X_NO_ELTWISE || !layer->weights;
}

static Size picture_size(const Layer* layer) { return layer->flattens ? (Size){1, 1} : layer->pooled_size; }

static int32_t picture_channels(const Layer* layer) {
  return layer->flattens ? layer->in_channels * pixels_of(layer->pooled_size) : layer->in_channels;
}

/* Weights of one output, and the same with zeros behind them. */
static int32_t taps_of(const Layer* layer) {
  return picture_channels(layer) / layer->groups * pixels_of(layer->kernel);
}

static int32_t padded_taps_of(const Layer* layer) {
  return (taps_of(layer) + LATHE_MAX7800X_TAP_BLOCK - 1) / LATHE_MAX7800X_TAP_BLOCK * LATHE_MAX7800X_TAP_BLOCK;
}

static uintptr_t take(uintptr_t* at, size_t bytes) {
  const uintptr_t start = (*at + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  *at = start + bytes;
  return start;
}

/* Where the parts lie. They are written before they are read. */
static Scratch divide(const Layer* layer, uintptr_t at) {
  const size_t channels = (size_t)(layer->operand_stride * layer->operands);
  const size_t in_pixels = (size_t)layer->in_pixels, pooled = (size_t)pixels_of(layer->pooled_size);
  Scratch scratch = {0};
  if (layer->source_count > 1) scratch.joined = (int8_t*)take(&at, channels * in_pixels);
  if (has_steps(layer)) {
    scratch.planes = (int32_t*)take(&at, 3 * in_pixels * sizeof(int32_t));
    scratch.values = (int8_t*)take(&at, (size_t)layer->in_channels * pooled);
  }
  if (layer->weights) {
    scratch.picture =
        (int16_t*)take(&at, (size_t)picture_channels(layer) * (size_t)pixels_of(layer->padded_size) * sizeof(int16_t));
    scratch.patches = (int16_t*)take(&at, (size_t)padded_taps_of(layer) * PIXEL_BLOCK * sizeof(int16_t));
  }
  scratch.end = at;
  return scratch;
}

size_t lathe_max7800x_scratch(const lathe_max7800x_network* network) {
  size_t largest = 0;
  for (int32_t i = 0; i < network->order_count; ++i) {
    const Scratch scratch = divide(&network->layers[network->order[i]], 0);
    if (scratch.end > largest) largest = scratch.end;
  }
  return largest + ALIGNMENT;
}

/* --- sources ------------------------------------------------------------------------------------------------------ */

static const int8_t* source_of(const lathe_max7800x_network* network, const int8_t* sample, void* const* outputs,
                               int32_t position, int32_t* channels, int32_t* pixels) {
  if (position == LATHE_MAX7800X_INPUT) {
    *channels = network->in_channels;
    *pixels = pixels_of(network->in_size);
    return sample;
  }
  *channels = network->layers[position].out_channels;
  *pixels = pixels_of(network->layers[position].out_size);
  return (const int8_t*)outputs[position];
}

/* All that a layer reads, as planes behind each other. */
static const int8_t* join(const lathe_max7800x_network* network, const Layer* layer, const int8_t* sample,
                          void* const* outputs, int8_t* joined) {
  int32_t channels, pixels;
  if (layer->source_count == 1) return source_of(network, sample, outputs, layer->sources[0], &channels, &pixels);
  int8_t* to = joined;
  for (int32_t i = 0; i < layer->source_count; ++i) {
    const int8_t* from = source_of(network, sample, outputs, layer->sources[i], &channels, &pixels);
    if (layer->joins_pixels) {
      for (int32_t c = 0; c < channels; ++c) {
        memcpy(to + (size_t)c * (size_t)layer->in_pixels, from + (size_t)c * (size_t)pixels, (size_t)pixels);
      }
      to += pixels;
    } else {
      memcpy(to, from, (size_t)channels * (size_t)pixels);
      to += (size_t)channels * (size_t)pixels;
    }
  }
  return joined;
}

/* --- pools and operands ------------------------------------------------------------------------------------------- */

static int32_t average(int32_t sum, int32_t count, int rounds) {
  if (!rounds) return sum / count; /* C cuts off towards zero */
  const int32_t magnitude = (2 * (sum < 0 ? -sum : sum) + count) / (2 * count);
  return sum < 0 ? -magnitude : magnitude;
}

static void pool_plane(const Layer* layer, const int32_t* from, int32_t* to) {
  const int32_t width = layer->in_size.columns, count = pixels_of(layer->pool_size);
  for (int32_t row = 0; row < layer->pooled_size.rows; ++row) {
    for (int32_t column = 0; column < layer->pooled_size.columns; ++column) {
      const int32_t* corner = from + row * layer->pool_stride.rows * width + column * layer->pool_stride.columns;
      int32_t sum = 0, highest = *corner;
      for (int32_t y = 0; y < layer->pool_size.rows; ++y) {
        for (int32_t x = 0; x < layer->pool_size.columns; ++x) {
          const int32_t value = corner[y * layer->pool_dilation.rows * width + x * layer->pool_dilation.columns];
          sum += value;
          highest = value > highest ? value : highest;
        }
      }
      *to++ = layer->pool == LATHE_MAX7800X_MAX ? highest
                                                : average(sum, count, layer->pool == LATHE_MAX7800X_ROUNDED_AVERAGE);
    }
  }
}

static void combine(int32_t eltwise, int32_t* restrict left, const int32_t* restrict right, int32_t count) {
  switch (eltwise) {
    case LATHE_MAX7800X_ADD:
      for (int32_t p = 0; p < count; ++p) left[p] += right[p];
      break;
    case LATHE_MAX7800X_SUB:
      for (int32_t p = 0; p < count; ++p) left[p] -= right[p];
      break;
    case LATHE_MAX7800X_OR:
      for (int32_t p = 0; p < count; ++p) left[p] |= right[p];
      break;
    default:
      for (int32_t p = 0; p < count; ++p) left[p] ^= right[p];
  }
}

static void saturate(const Layer* layer, int32_t* values, int32_t count) {
  if (!layer->eltwise_saturates) return;
  for (int32_t p = 0; p < count; ++p) values[p] = clamp(values[p]);
}

/* One operand's plane, pooled where pools come first. */
static void load_operand(const Layer* layer, const int8_t* plane, int32_t* unpooled, int32_t* to) {
  const int pools = layer->pool != LATHE_MAX7800X_NO_POOL && layer->pool_first;
  int32_t* loaded = pools ? unpooled : to;
  const int32_t count = pixels_of(layer->in_size);
  for (int32_t p = 0; p < count; ++p) loaded[p] = plane[p];
  if (pools) pool_plane(layer, loaded, to);
}

/* One channel of all operands, pooled and combined; it stays in `planes`. */
static const int32_t* channel_of(const Layer* layer, const int8_t* source, int32_t channel, int32_t* planes) {
  int32_t *result = planes, *other = planes + layer->in_pixels, *unpooled = other + layer->in_pixels;
  const int32_t count = pixels_of(layer->pool_first ? layer->pooled_size : layer->in_size);
  for (int32_t i = 0; i < layer->operands; ++i) {
    const int32_t from = i * layer->operand_stride + layer->skipped_channels + channel;
    const int8_t* plane = source + (size_t)from * (size_t)layer->in_pixels + layer->skipped_pixels;
    load_operand(layer, plane, unpooled, i ? other : result);
    if (i) combine(layer->eltwise, result, other, count);
  }
  if (layer->eltwise != LATHE_MAX7800X_NO_ELTWISE) saturate(layer, result, count);
  if (layer->pool == LATHE_MAX7800X_NO_POOL || layer->pool_first) return result;
  pool_plane(layer, result, other);
  return other;
}

/* All channels: into `narrow` or, where it is not NULL, into `wide`. */
static void run_steps(const Layer* layer, const int8_t* source, int32_t* planes, int8_t* narrow, int32_t* wide) {
  const int32_t count = pixels_of(layer->pooled_size);
  for (int32_t c = 0; c < layer->in_channels; ++c) {
    const int32_t* values = channel_of(layer, source, c, planes);
    if (wide) {
      memcpy(wide + (size_t)c * (size_t)count, values, (size_t)count * sizeof(int32_t));
      continue;
    }
    int8_t* to = narrow + (size_t)c * (size_t)count;
    for (int32_t p = 0; p < count; ++p) to[p] = (int8_t)values[p];
  }
}

/* --- convolutions ------------------------------------------------------------------------------------------------- */

/* The picture with its padding, the channels of a pixel side by side. `stride`: bytes from one plane to the next. */
static void spread(const Layer* layer, const int8_t* planes, size_t stride, int16_t* picture) {
  const Size size = picture_size(layer);
  const int32_t channels = picture_channels(layer), width = layer->padded_size.columns;
  memset(picture, 0, (size_t)channels * (size_t)pixels_of(layer->padded_size) * sizeof(int16_t));
  for (int32_t row = 0; row < size.rows; ++row) {
    int16_t* line = picture + ((size_t)(layer->pad.rows + row * layer->stuffing.rows) * (size_t)width +
                               (size_t)layer->pad.columns) *
                                  (size_t)channels;
    for (int32_t c = 0; c < channels; ++c) {
      const int8_t* from = planes + (size_t)c * stride + (size_t)(row * size.columns);
      int16_t* to = line + c;
      for (int32_t column = 0; column < size.columns; ++column) {
        *to = from[column];
        to += (size_t)channels * (size_t)layer->stuffing.columns;
      }
    }
  }
}

/* What the kernel covers for an output pixel, in the order of the weights, with zeros behind it. */
static void cut_patch(const Layer* layer, const int16_t* picture, int32_t group, int32_t pixel, int16_t* patch) {
  const int32_t channels = picture_channels(layer), per_group = channels / layer->groups;
  const int32_t row = pixel / layer->out_size.columns * layer->stride.rows;
  const int32_t column = pixel % layer->out_size.columns * layer->stride.columns;
  int16_t* to = patch;
  for (int32_t y = 0; y < layer->kernel.rows; ++y) {
    const size_t line = (size_t)(row + y * layer->dilation.rows) * (size_t)layer->padded_size.columns + (size_t)column;
    const int16_t* from = picture + line * (size_t)channels + (size_t)(group * per_group);
    if (layer->groups == 1 && layer->dilation.columns == 1) {
      const size_t count = (size_t)(layer->kernel.columns * channels);
      memcpy(to, from, count * sizeof(int16_t));
      to += count;
      continue;
    }
    for (int32_t x = 0; x < layer->kernel.columns; ++x, to += per_group) {
      memcpy(to, from + (size_t)(x * layer->dilation.columns) * (size_t)channels, (size_t)per_group * sizeof(int16_t));
    }
  }
  memset(to, 0, (size_t)(patch + padded_taps_of(layer) - to) * sizeof(int16_t));
}

static void store(const Layer* layer, int32_t sum, int32_t channel, int32_t pixel, void* output) {
  const size_t at = (size_t)channel * (size_t)pixels_of(layer->out_size) + (size_t)pixel;
  if (layer->bias) sum += layer->bias[channel];
  if (layer->wide) {
    ((int32_t*)output)[at] = sum;
    return;
  }
  const int32_t right = layer->right_shift;
  /* Halves go up; nothing overflows in 64 bits. Shifts of negative numbers: as all compilers do them. */
  const int64_t shifted =
      right > 0 ? ((int64_t)sum + ((int64_t)1 << (right - 1))) >> right : (int64_t)sum * ((int64_t)1 << -right);
  int32_t value = shifted < -128 ? -128 : shifted > 127 ? 127 : (int32_t)shifted;
  if (layer->activation == LATHE_MAX7800X_RELU && value < 0) value = 0;
  if (layer->activation == LATHE_MAX7800X_ABS && value < 0) value = value == -128 ? 127 : -value;
  ((int8_t*)output)[at] = (int8_t)value;
}

/* Two outputs of two pixels. */
static void multiply_2x2(const int16_t* restrict weights, const int16_t* restrict patches, int32_t taps,
                         int32_t sums[4]) {
  const int16_t *w0 = weights, *w1 = weights + taps, *p0 = patches, *p1 = patches + taps;
  int32_t s00 = 0, s01 = 0, s10 = 0, s11 = 0;
  for (int32_t t = 0; t < taps; ++t) {
    s00 += w0[t] * p0[t];
    s01 += w0[t] * p1[t];
    s10 += w1[t] * p0[t];
    s11 += w1[t] * p1[t];
  }
  sums[0] = s00;
  sums[1] = s01;
  sums[2] = s10;
  sums[3] = s11;
}

static int32_t multiply(const int16_t* restrict weights, const int16_t* restrict patch, int32_t taps) {
  int32_t sum = 0;
  for (int32_t t = 0; t < taps; ++t) sum += weights[t] * patch[t];
  return sum;
}

/* The outputs from `first` on, `count` of them, for the pixels whose patches were cut. */
static void multiply_block(const Layer* layer, const int16_t* patches, int32_t first, int32_t count, int32_t pixel,
                           int32_t pixels, void* output) {
  const int32_t taps = padded_taps_of(layer);
  for (int32_t i = 0; i < count; i += 2) {
    const int32_t channel = first + i;
    const int16_t* weights = layer->weights + (size_t)channel * (size_t)taps;
    for (int32_t p = 0; p < pixels; p += 2) {
      const int16_t* patch = patches + (size_t)p * (size_t)taps;
      if (i + 1 < count && p + 1 < pixels) {
        int32_t sums[4];
        multiply_2x2(weights, patch, taps, sums);
        store(layer, sums[0], channel, pixel + p, output);
        store(layer, sums[1], channel, pixel + p + 1, output);
        store(layer, sums[2], channel + 1, pixel + p, output);
        store(layer, sums[3], channel + 1, pixel + p + 1, output);
        continue;
      }
      for (int32_t y = i; y < i + 2 && y < count; ++y) {
        for (int32_t x = p; x < p + 2 && x < pixels; ++x) {
          const int32_t sum =
              multiply(layer->weights + (size_t)(first + y) * (size_t)taps, patches + (size_t)x * (size_t)taps, taps);
          store(layer, sum, first + y, pixel + x, output);
        }
      }
    }
  }
}

static void convolve(const Layer* layer, const int8_t* planes, size_t stride, const Scratch* scratch, void* output) {
  const int32_t pixels = pixels_of(layer->out_size), per_group = layer->out_channels / layer->groups;
  const int32_t taps = padded_taps_of(layer);
  spread(layer, planes, stride, scratch->picture);
  for (int32_t group = 0; group < layer->groups; ++group) {
    for (int32_t pixel = 0; pixel < pixels; pixel += PIXEL_BLOCK) {
      const int32_t count = pixels - pixel < PIXEL_BLOCK ? pixels - pixel : PIXEL_BLOCK;
      for (int32_t p = 0; p < count; ++p) {
        cut_patch(layer, scratch->picture, group, pixel + p, scratch->patches + (size_t)p * (size_t)taps);
      }
      multiply_block(layer, scratch->patches, group * per_group, per_group, pixel, count, output);
    }
  }
}

/* --- a layer ------------------------------------------------------------------------------------------------------ */

static void run_layer(const Layer* layer, const int8_t* source, const Scratch* scratch, void* output) {
  if (!layer->weights) {
    run_steps(layer, source, scratch->planes, (int8_t*)output, layer->wide ? (int32_t*)output : NULL);
    return;
  }
  if (has_steps(layer)) {
    run_steps(layer, source, scratch->planes, scratch->values, NULL);
    const size_t stride = layer->flattens ? 1 : (size_t)pixels_of(layer->pooled_size);
    convolve(layer, scratch->values, stride, scratch, output);
    return;
  }
  const int8_t* first = source + (size_t)layer->skipped_channels * (size_t)layer->in_pixels + layer->skipped_pixels;
  convolve(layer, first, layer->flattens ? 1 : (size_t)layer->in_pixels, scratch, output);
}

void lathe_max7800x_simulate(const lathe_max7800x_network* network, const int8_t* sample, void* const* outputs,
                             void* scratch) {
  for (int32_t i = 0; i < network->order_count; ++i) {
    const int32_t position = network->order[i];
    const Layer* layer = &network->layers[position];
    const Scratch parts = divide(layer, (uintptr_t)scratch);
    run_layer(layer, join(network, layer, sample, outputs, parts.joined), &parts, outputs[position]);
  }
}
