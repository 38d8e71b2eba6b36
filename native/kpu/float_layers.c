/* Layers whose input is float32, in the main memory.
 *
 * Sums run from the first element to the last in float32, products are rounded before they are added but for those of
 * a fully connected layer, and kpu_exp is here: so that every processor gives the same bytes.
 */
#include <math.h>
#include <string.h>

#include "layer.h"

enum { LINEAR = 0, RELU = 1, RELU6 = 2 };

static float* at(const lathe_kpu* model, const kpu_layer* layer, uint32_t field) {
  return (float*)(void*)(model->main_memory + kpu_field(layer, field));
}

static float parameter(const uint8_t* from) {
  const uint32_t word = kpu_word(from);
  float value;
  memcpy(&value, &word, sizeof value);
  return value;
}

/* That there are `count` floats where a field says. */
static lathe_kpu_status check_floats(const lathe_kpu* model, const kpu_layer* layer, uint32_t field, uint64_t count) {
  const uint32_t offset = kpu_field(layer, field);
  if (offset % 4 != 0) return LATHE_KPU_MISALIGNED;
  return kpu_in_main(model, offset, count, 4) ? LATHE_KPU_OK : LATHE_KPU_MAIN_MEMORY;
}

static lathe_kpu_status check_pair(const lathe_kpu* model, const kpu_layer* layer, uint64_t in, uint64_t out) {
  const lathe_kpu_status status = check_floats(model, layer, 1, in);
  return status == LATHE_KPU_OK ? check_floats(model, layer, 2, out) : status;
}

static float activated(float value, uint32_t activation) {
  if (activation != LINEAR && !(value > 0.0f)) return 0.0f;
  return activation == RELU6 && value > 6.0f ? 6.0f : value;
}

/* --- addition --- */

static lathe_kpu_status check_add(const lathe_kpu* model, const kpu_layer* layer) {
  const uint32_t count = kpu_field(layer, 4);
  const lathe_kpu_status status = check_pair(model, layer, count, count);
  return status == LATHE_KPU_OK ? check_floats(model, layer, 3, count) : status;
}

static void run_add(const lathe_kpu* model, const kpu_layer* layer) {
  const float* a = at(model, layer, 1);
  const float* b = at(model, layer, 2);
  float* out = at(model, layer, 3);
  const uint32_t count = kpu_field(layer, 4);
  for (uint32_t i = 0; i < count; ++i) out[i] = a[i] + b[i];
}

/* --- means --- */

static lathe_kpu_status check_mean(const lathe_kpu* model, const kpu_layer* layer) {
  const uint32_t size = kpu_field(layer, 3);
  const uint32_t channels = kpu_field(layer, 4);
  if (size == 0) return LATHE_KPU_BAD_SIZE;
  return check_pair(model, layer, (uint64_t)size * channels, channels);
}

static void run_mean(const lathe_kpu* model, const kpu_layer* layer) {
  const float* in = at(model, layer, 1);
  float* out = at(model, layer, 2);
  const uint32_t size = kpu_field(layer, 3);
  const uint32_t channels = kpu_field(layer, 4);
  for (uint32_t channel = 0; channel < channels; ++channel) {
    float sum = 0.0f;
    for (uint32_t i = 0; i < size; ++i) sum += *in++;
    out[channel] = sum / (float)size;
  }
}

static lathe_kpu_status check_average_pool(const lathe_kpu* model, const kpu_layer* layer) {
  kpu_pool pool;
  const lathe_kpu_status status = kpu_read_pool(layer, &pool);
  if (status != LATHE_KPU_OK) return status;
  if (kpu_field(layer, 15) > RELU6) return LATHE_KPU_BAD_SIZE;
  return check_pair(model, layer, pool.in_count, pool.out_count);
}

static float window_mean(const kpu_pool* pool, const float* plane, uint32_t x, uint32_t y) {
  const kpu_window columns = kpu_window_of(&pool->columns, x);
  const kpu_window rows = kpu_window_of(&pool->rows, y);
  float sum = 0.0f;
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    for (uint32_t column = columns.begin; column < columns.end; ++column) {
      sum += plane[(size_t)row * pool->columns.in + column];
    }
  }
  return sum / (float)((rows.end - rows.begin) * (columns.end - columns.begin));
}

static void run_average_pool(const lathe_kpu* model, const kpu_layer* layer) {
  kpu_pool pool;
  if (kpu_read_pool(layer, &pool) != LATHE_KPU_OK) return;
  const float* plane = at(model, layer, 1);
  float* out = at(model, layer, 2);
  const uint32_t activation = kpu_field(layer, 15);
  for (uint32_t channel = 0; channel < pool.channels; ++channel) {
    for (uint32_t y = 0; y < pool.rows.out; ++y) {
      for (uint32_t x = 0; x < pool.columns.out; ++x) *out++ = activated(window_mean(&pool, plane, x, y), activation);
    }
    plane += (size_t)pool.rows.in * pool.columns.in;
  }
}

/* --- to bytes --- */

static lathe_kpu_status check_quantize(const lathe_kpu* model, const kpu_layer* layer) {
  const uint32_t count = kpu_field(layer, 3);
  const float scale = fabsf(parameter(layer->body + 16));
  if (!(scale >= 0x1p-126f && scale < 0x1p126f)) return LATHE_KPU_BAD_SIZE;
  const lathe_kpu_status status = check_floats(model, layer, 1, count);
  if (status != LATHE_KPU_OK) return status;
  return kpu_in_main(model, kpu_field(layer, 2), count, 1) ? LATHE_KPU_OK : LATHE_KPU_MAIN_MEMORY;
}

/* Halves go away from zero, as roundf does; what is no number becomes 0. */
static uint8_t rounded_byte(float value) {
  if (!(value >= 0.5f)) return 0;
  if (value >= 254.5f) return 255;
  const uint32_t whole = (uint32_t)value;
  return (uint8_t)(value - (float)whole >= 0.5f ? whole + 1 : whole);
}

static void run_quantize(const lathe_kpu* model, const kpu_layer* layer) {
  const float* in = at(model, layer, 1);
  uint8_t* out = model->main_memory + kpu_field(layer, 2);
  const uint32_t count = kpu_field(layer, 3);
  const float factor = 1.0f / parameter(layer->body + 16);
  const float bias = parameter(layer->body + 20);
  for (uint32_t i = 0; i < count; ++i) out[i] = rounded_byte((in[i] - bias) * factor);
}

/* --- over all channels --- */

static lathe_kpu_status check_channels(const lathe_kpu* model, const kpu_layer* layer) {
  return check_pair(model, layer, kpu_field(layer, 3), kpu_field(layer, 3));
}

static void run_l2_norm(const lathe_kpu* model, const kpu_layer* layer) {
  const float* in = at(model, layer, 1);
  float* out = at(model, layer, 2);
  const uint32_t channels = kpu_field(layer, 3);
  float sum = 0.0f;
  for (uint32_t i = 0; i < channels; ++i) {
    const float square = in[i] * in[i];
    sum += square;
  }
  const float factor = 1.0f / sqrtf(sum < 1e-10f ? 1e-10f : sum);
  for (uint32_t i = 0; i < channels; ++i) out[i] = in[i] * factor;
}

float kpu_exp(float x) {
  /* x = n ln 2 + r with |r| <= ln 2 / 2; the series of e^r is summed in double precision, far below half a step of
   * float32. */
  static const double inverse_factorials[] = {1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
                                              1.0 / 720,      1.0 / 120,     1.0 / 24,     1.0 / 6,     0.5};
  if (!(x < 89.0f)) return x > 0.0f ? HUGE_VALF : x; /* infinity, or not a number */
  if (x < -104.0f) return 0.0f;
  const double scaled = (double)x * 1.4426950408889634;
  const int32_t n = (int32_t)(scaled < 0.0 ? scaled - 0.5 : scaled + 0.5);
  const double high = (double)x - (double)n * 0x1.62e42fee00000p-1; /* exact: 32 bits of ln 2, and 8 of n */
  const double low = (double)n * 0x1.a39ef35793c76p-33;
  const double r = high - low;
  double sum = 1.0 / 479001600;
  for (size_t i = 0; i < sizeof inverse_factorials / sizeof *inverse_factorials; ++i) {
    const double product = sum * r;
    sum = product + inverse_factorials[i];
  }
  const double square = sum * r * r;
  const uint64_t power_bits = (uint64_t)(int64_t)(n + 1023) << 52;
  double power;
  memcpy(&power, &power_bits, sizeof power);
  const double series = square + r + 1.0;
  return (float)(series * power);
}

static void run_softmax(const lathe_kpu* model, const kpu_layer* layer) {
  const float* in = at(model, layer, 1);
  float* out = at(model, layer, 2);
  const uint32_t channels = kpu_field(layer, 3);
  float most = -HUGE_VALF; /* the SDK of the chip begins above 0, and divides 0 by 0 where all numbers are far below */
  for (uint32_t i = 0; i < channels; ++i) most = in[i] > most ? in[i] : most;
  float sum = 0.0f;
  for (uint32_t i = 0; i < channels; ++i) {
    out[i] = kpu_exp(in[i] - most);
    sum += out[i];
  }
  for (uint32_t i = 0; i < channels; ++i) out[i] = out[i] / sum;
}

static void run_logistic(const lathe_kpu* model, const kpu_layer* layer) {
  const float* in = at(model, layer, 1);
  float* out = at(model, layer, 2);
  const uint32_t channels = kpu_field(layer, 3);
  for (uint32_t i = 0; i < channels; ++i) {
    const float power = kpu_exp(-in[i]);
    out[i] = 1.0f / (1.0f + power);
  }
}

/* --- fully connected --- */

static lathe_kpu_status check_fully_connected(const lathe_kpu* model, const kpu_layer* layer) {
  const uint32_t in = kpu_field(layer, 3);
  const uint32_t out = kpu_field(layer, 4);
  if (kpu_field(layer, 5) > RELU6) return LATHE_KPU_BAD_SIZE;
  if (((uint64_t)in + 1) * out > (layer->bytes - 24) / 4) return LATHE_KPU_BODY_TOO_SHORT;
  if ((uintptr_t)layer->body % 4 != 0) return LATHE_KPU_MISALIGNED;
  return check_pair(model, layer, in, out);
}

static void run_fully_connected(const lathe_kpu* model, const kpu_layer* layer) {
  const float* in = at(model, layer, 1);
  float* out = at(model, layer, 2);
  const uint32_t in_channels = kpu_field(layer, 3);
  const uint32_t out_channels = kpu_field(layer, 4);
  const float* weights = (const float*)(const void*)(layer->body + 24);
  const float* biases = weights + (size_t)in_channels * out_channels;
  for (uint32_t channel = 0; channel < out_channels; ++channel) {
    float sum = 0.0f;
    for (uint32_t i = 0; i < in_channels; ++i) sum = fmaf(in[i], *weights++, sum);
    out[channel] = activated(sum + biases[channel], kpu_field(layer, 5));
  }
}

/* --- moving --- */

static lathe_kpu_status check_flatten(const lathe_kpu* model, const kpu_layer* layer) {
  uint64_t count;
  if (!kpu_volume(layer, 3, &count)) return LATHE_KPU_BAD_SIZE;
  return check_pair(model, layer, count, count);
}

static void run_flatten(const lathe_kpu* model, const kpu_layer* layer) {
  const float* in = at(model, layer, 1);
  float* out = at(model, layer, 2);
  const size_t pixels = (size_t)kpu_field(layer, 3) * kpu_field(layer, 4);
  const uint32_t channels = kpu_field(layer, 5);
  for (size_t pixel = 0; channels != 0 && pixel < pixels; ++pixel) {
    for (uint32_t channel = 0; channel < channels; ++channel) *out++ = in[channel * pixels + pixel];
  }
}

static lathe_kpu_status check_resize(const lathe_kpu* model, const kpu_layer* layer) {
  uint64_t in, out;
  if (!kpu_resize_counts(layer, &in, &out)) return LATHE_KPU_BAD_SIZE;
  return check_pair(model, layer, in, out);
}

static void run_resize(const lathe_kpu* model, const kpu_layer* layer) {
  const float* plane = at(model, layer, 1);
  float* out = at(model, layer, 2);
  const uint32_t width = kpu_field(layer, 3), height = kpu_field(layer, 4), channels = kpu_field(layer, 5);
  const uint32_t out_width = kpu_field(layer, 6), out_height = kpu_field(layer, 7);
  for (uint32_t channel = 0; channel < channels; ++channel, plane += (size_t)width * height) {
    for (uint32_t y = 0; y < out_height; ++y) {
      const float* row = plane + (size_t)kpu_nearest(y, height, out_height) * width;
      for (uint32_t x = 0; x < out_width; ++x) *out++ = row[kpu_nearest(x, width, out_width)];
    }
  }
}

const kpu_kind kpu_float_kinds[] = {
    {1, 5, check_add, run_add},
    {5, 5, check_mean, run_mean},
    {9, 16, check_average_pool, run_average_pool},
    {11, 6, check_quantize, run_quantize},
    {14, 4, check_channels, run_l2_norm},
    {15, 4, check_channels, run_softmax},
    {18, 6, check_fully_connected, run_fully_connected},
    {20, 6, check_flatten, run_flatten},
    {22, 9, check_resize, run_resize},
    {25, 4, check_channels, run_logistic},
    {0, 0, NULL, NULL},
};
