/* Layers whose input is bytes, and those that move bytes whatever they mean. */
#include <string.h>

#include "layer.h"

static uint8_t* at(const lathe_kpu* model, const kpu_layer* layer, uint32_t field) {
  return model->main_memory + kpu_field(layer, field);
}

static lathe_kpu_status check_bytes(const lathe_kpu* model, const kpu_layer* layer, uint32_t field, uint64_t count) {
  return kpu_in_main(model, kpu_field(layer, field), count, 1) ? LATHE_KPU_OK : LATHE_KPU_MAIN_MEMORY;
}

static lathe_kpu_status check_pair(const lathe_kpu* model, const kpu_layer* layer, uint64_t in, uint64_t out) {
  const lathe_kpu_status status = check_bytes(model, layer, 1, in);
  return status == LATHE_KPU_OK ? check_bytes(model, layer, 2, out) : status;
}

/* --- addition of quantised numbers --- */

/* How one of the numbers is scaled. */
typedef struct scaling {
  int64_t offset;
  int64_t factor;
  uint32_t shift;
} scaling;

static scaling scaling_at(const kpu_layer* layer, uint32_t field) {
  const scaling read = {(int32_t)kpu_field(layer, field), (int32_t)kpu_field(layer, field + 1),
                        kpu_field(layer, field + 2)};
  return read;
}

static lathe_kpu_status check_add(const lathe_kpu* model, const kpu_layer* layer) {
  const uint32_t count = kpu_field(layer, 4);
  for (uint32_t field = 7; field <= 13; field += 3) {
    if (kpu_field(layer, field) > 63) return LATHE_KPU_BAD_SIZE;
  }
  const lathe_kpu_status status = check_pair(model, layer, count, count);
  return status == LATHE_KPU_OK ? check_bytes(model, layer, 3, count) : status;
}

/* Products that leave 64 bits wrap around. */
static int64_t product(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }

/* To the nearest, but odd halves of negative numbers go down by one more, as the SDK of the chip does it. */
static int64_t carry_shift(int64_t value, uint32_t shift) {
  if (shift == 0) return value;
  value >>= shift - 1;
  if ((value & 1) == 0) return value >> 1;
  return value < 0 ? (value >> 1) - 1 : (value >> 1) + 1;
}

/* In blocks of eight, as the SDK does: up to seven bytes behind the last, as far as there is memory. */
static uint32_t whole_blocks(const lathe_kpu* model, const kpu_layer* layer) {
  uint64_t count = ((uint64_t)kpu_field(layer, 4) + 7) / 8 * 8;
  for (uint32_t field = 1; field <= 3; ++field) {
    const size_t left = model->main_bytes - kpu_field(layer, field);
    count = count < left ? count : left;
  }
  return (uint32_t)count;
}

static void run_add(const lathe_kpu* model, const kpu_layer* layer) {
  const uint8_t* in_a = at(model, layer, 1);
  const uint8_t* in_b = at(model, layer, 2);
  uint8_t* result = at(model, layer, 3);
  const uint32_t count = whole_blocks(model, layer);
  const scaling a = scaling_at(layer, 5), b = scaling_at(layer, 8), out = scaling_at(layer, 11);
  for (uint32_t i = 0; i < count; ++i) {
    const int64_t from_a = product(in_a[i] + a.offset, a.factor);
    const int64_t from_b = product(in_b[i] + b.offset, b.factor);
    /* One shift of the sum where both are the same, else one of each. */
    const int64_t sum = a.shift == b.shift ? (from_a + from_b) >> a.shift : (from_a >> a.shift) + (from_b >> b.shift);
    const int64_t value = carry_shift(product(sum, out.factor), out.shift) + out.offset;
    result[i] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
  }
}

/* --- maxima --- */

static lathe_kpu_status side(const kpu_layer* layer, uint32_t axis, kpu_axis* out) {
  out->in = kpu_field(layer, 3 + axis);
  out->out = kpu_field(layer, 6 + axis);
  out->kernel = kpu_field(layer, 9 + axis);
  out->stride = kpu_field(layer, 11 + axis);
  out->padding = kpu_field(layer, 13 + axis);
  if (out->in == 0 || out->out == 0 || out->kernel == 0 || out->stride == 0) return LATHE_KPU_BAD_SIZE;
  if (out->padding >= out->kernel) return LATHE_KPU_BAD_SIZE;
  /* The last window begins within the input. */
  const uint64_t last = (uint64_t)(out->out - 1) * out->stride;
  return last < (uint64_t)out->in + out->padding ? LATHE_KPU_OK : LATHE_KPU_BAD_SIZE;
}

static bool small(uint32_t a, uint32_t b, uint32_t c, uint64_t* out) {
  const uint64_t area = (uint64_t)a * b;
  if (area > UINT32_MAX || (c != 0 && area > UINT32_MAX / c)) return false;
  *out = area * c;
  return true;
}

bool kpu_volume(const kpu_layer* layer, uint32_t field, uint64_t* count) {
  return small(kpu_field(layer, field), kpu_field(layer, field + 1), kpu_field(layer, field + 2), count);
}

lathe_kpu_status kpu_read_pool(const kpu_layer* layer, kpu_pool* out) {
  lathe_kpu_status status = side(layer, 0, &out->columns);
  if (status == LATHE_KPU_OK) status = side(layer, 1, &out->rows);
  if (status != LATHE_KPU_OK) return status;
  out->channels = kpu_field(layer, 8);
  if (out->channels > kpu_field(layer, 5)) return LATHE_KPU_BAD_SIZE;
  const bool fits = kpu_volume(layer, 3, &out->in_count) && kpu_volume(layer, 6, &out->out_count);
  return fits ? LATHE_KPU_OK : LATHE_KPU_BAD_SIZE;
}

kpu_window kpu_window_of(const kpu_axis* axis, uint32_t position) {
  const int64_t begin = (int64_t)position * axis->stride - axis->padding;
  const int64_t end = begin + axis->kernel;
  const kpu_window window = {begin < 0 ? 0 : (uint32_t)begin, end > axis->in ? axis->in : (uint32_t)end};
  return window;
}

uint64_t kpu_pool_looks(const kpu_pool* pool) {
  const uint32_t width = pool->columns.kernel < pool->columns.in ? pool->columns.kernel : pool->columns.in;
  const uint32_t height = pool->rows.kernel < pool->rows.in ? pool->rows.kernel : pool->rows.in;
  return pool->out_count * width * height;
}

static lathe_kpu_status check_max_pool(const lathe_kpu* model, const kpu_layer* layer) {
  kpu_pool pool;
  const lathe_kpu_status status = kpu_read_pool(layer, &pool);
  return status == LATHE_KPU_OK ? check_pair(model, layer, pool.in_count, pool.out_count) : status;
}

static uint8_t window_maximum(const kpu_pool* pool, const uint8_t* plane, uint32_t x, uint32_t y) {
  const kpu_window columns = kpu_window_of(&pool->columns, x);
  const kpu_window rows = kpu_window_of(&pool->rows, y);
  uint8_t most = 0;
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    for (uint32_t column = columns.begin; column < columns.end; ++column) {
      const uint8_t value = plane[(size_t)row * pool->columns.in + column];
      most = value > most ? value : most;
    }
  }
  return most;
}

static void run_max_pool(const lathe_kpu* model, const kpu_layer* layer) {
  kpu_pool pool;
  if (kpu_read_pool(layer, &pool) != LATHE_KPU_OK) return;
  const uint8_t* plane = at(model, layer, 1);
  uint8_t* out = at(model, layer, 2);
  for (uint32_t channel = 0; channel < pool.channels; ++channel) {
    for (uint32_t y = 0; y < pool.rows.out; ++y) {
      for (uint32_t x = 0; x < pool.columns.out; ++x) *out++ = window_maximum(&pool, plane, x, y);
    }
    plane += (size_t)pool.rows.in * pool.columns.in;
  }
}

/* --- to floats --- */

static lathe_kpu_status check_to_floats(const lathe_kpu* model, const kpu_layer* layer, uint64_t count) {
  const uint32_t out = kpu_field(layer, 2);
  if (out % 4 != 0) return LATHE_KPU_MISALIGNED;
  if (!kpu_in_main(model, out, count, 4)) return LATHE_KPU_MAIN_MEMORY;
  return check_bytes(model, layer, 1, count);
}

static void dequantize(const uint8_t* in, float* out, uint32_t count, const uint8_t* parameters) {
  const uint32_t words[2] = {kpu_word(parameters), kpu_word(parameters + 4)};
  float scale_and_bias[2];
  memcpy(scale_and_bias, words, sizeof words);
  for (uint32_t i = 0; i < count; ++i) {
    const float scaled = (float)in[i] * scale_and_bias[0];
    out[i] = scaled + scale_and_bias[1];
  }
}

static lathe_kpu_status check_dequantize(const lathe_kpu* model, const kpu_layer* layer) {
  return check_to_floats(model, layer, kpu_field(layer, 3));
}

static void run_dequantize(const lathe_kpu* model, const kpu_layer* layer) {
  dequantize(at(model, layer, 1), (float*)(void*)at(model, layer, 2), kpu_field(layer, 3), layer->body + 16);
}

static lathe_kpu_status check_channel_dequantize(const lathe_kpu* model, const kpu_layer* layer) {
  const uint32_t channels = kpu_field(layer, 3);
  if (channels > (layer->bytes - 20) / 8) return LATHE_KPU_BODY_TOO_SHORT;
  return check_to_floats(model, layer, (uint64_t)channels * kpu_field(layer, 4));
}

static void run_channel_dequantize(const lathe_kpu* model, const kpu_layer* layer) {
  const uint32_t channels = kpu_field(layer, 3), size = kpu_field(layer, 4);
  const uint8_t* in = at(model, layer, 1);
  float* out = (float*)(void*)at(model, layer, 2);
  for (uint32_t channel = 0; channel < channels; ++channel) {
    const size_t offset = (size_t)channel * size;
    dequantize(in + offset, out + offset, size, layer->body + 20 + (size_t)channel * 8);
  }
}

/* --- moving and looking up --- */

static lathe_kpu_status check_requantize(const lathe_kpu* model, const kpu_layer* layer) {
  return check_pair(model, layer, kpu_field(layer, 3), kpu_field(layer, 3));
}

static void run_requantize(const lathe_kpu* model, const kpu_layer* layer) {
  const uint8_t* in = at(model, layer, 1);
  uint8_t* out = at(model, layer, 2);
  const uint8_t* table = layer->body + 16;
  const uint32_t count = kpu_field(layer, 3);
  for (uint32_t i = 0; i < count; ++i) out[i] = table[in[i]];
}

static lathe_kpu_status check_concat(const lathe_kpu* model, const kpu_layer* layer) {
  const uint32_t parts = kpu_field(layer, 2);
  uint64_t total = 0;
  if (parts > (layer->bytes - 12) / 8) return LATHE_KPU_BODY_TOO_SHORT;
  for (uint32_t i = 0; i < parts; ++i) {
    const uint32_t size = kpu_field(layer, 4 + 2 * i);
    if (check_bytes(model, layer, 3 + 2 * i, size) != LATHE_KPU_OK) return LATHE_KPU_MAIN_MEMORY;
    total += size;
  }
  return check_bytes(model, layer, 1, total);
}

static void run_concat(const lathe_kpu* model, const kpu_layer* layer) {
  uint8_t* out = at(model, layer, 1);
  const uint32_t parts = kpu_field(layer, 2);
  for (uint32_t i = 0; i < parts; ++i) {
    const uint32_t size = kpu_field(layer, 4 + 2 * i);
    memmove(out, at(model, layer, 3 + 2 * i), size);
    out += size;
  }
}

static lathe_kpu_status check_flatten(const lathe_kpu* model, const kpu_layer* layer) {
  uint64_t count;
  if (!kpu_volume(layer, 3, &count)) return LATHE_KPU_BAD_SIZE;
  return check_pair(model, layer, count, count);
}

static void run_flatten(const lathe_kpu* model, const kpu_layer* layer) {
  const uint8_t* in = at(model, layer, 1);
  uint8_t* out = at(model, layer, 2);
  const size_t pixels = (size_t)kpu_field(layer, 3) * kpu_field(layer, 4);
  const uint32_t channels = kpu_field(layer, 5);
  for (size_t pixel = 0; channels != 0 && pixel < pixels; ++pixel) {
    for (uint32_t channel = 0; channel < channels; ++channel) *out++ = in[channel * pixels + pixel];
  }
}

bool kpu_resize_counts(const kpu_layer* layer, uint64_t* in, uint64_t* out) {
  const uint32_t channels = kpu_field(layer, 5), width = kpu_field(layer, 6), height = kpu_field(layer, 7);
  if (kpu_field(layer, 3) == 0 || kpu_field(layer, 4) == 0 || width == 0 || height == 0) return false;
  return kpu_volume(layer, 3, in) && small(width, height, channels, out);
}

uint32_t kpu_nearest(uint32_t position, uint32_t in, uint32_t out) {
  const float scale = (float)in / (float)out;
  const float place = (float)position * scale;
  return place >= (float)(in - 1) ? in - 1 : (uint32_t)place;
}

static lathe_kpu_status check_resize(const lathe_kpu* model, const kpu_layer* layer) {
  uint64_t in, out;
  if (!kpu_resize_counts(layer, &in, &out)) return LATHE_KPU_BAD_SIZE;
  return check_pair(model, layer, in, out);
}

static void run_resize(const lathe_kpu* model, const kpu_layer* layer) {
  const uint8_t* plane = at(model, layer, 1);
  uint8_t* out = at(model, layer, 2);
  const uint32_t width = kpu_field(layer, 3), height = kpu_field(layer, 4), channels = kpu_field(layer, 5);
  const uint32_t out_width = kpu_field(layer, 6), out_height = kpu_field(layer, 7);
  for (uint32_t channel = 0; channel < channels; ++channel, plane += (size_t)width * height) {
    for (uint32_t y = 0; y < out_height; ++y) {
      const uint8_t* row = plane + (size_t)kpu_nearest(y, height, out_height) * width;
      for (uint32_t x = 0; x < out_width; ++x) *out++ = row[kpu_nearest(x, width, out_width)];
    }
  }
}

/* --- to and from the KPU's memory --- */

enum { PADDED_SIDE = 4, PADDED_PITCH = 16 }; /* of planes that hold one pixel */

static lathe_kpu_status check_add_padding(const lathe_kpu* model, const kpu_layer* layer) {
  const uint32_t channels = kpu_field(layer, 3);
  if (!kpu_fits_ram(kpu_field(layer, 2), PADDED_SIDE, PADDED_SIDE, channels)) return LATHE_KPU_KPU_MEMORY;
  return check_bytes(model, layer, 1, channels);
}

static void run_add_padding(const lathe_kpu* model, const kpu_layer* layer) {
  const kpu_planes planes = kpu_planes_of(PADDED_SIDE, PADDED_SIDE);
  const uint8_t* in = at(model, layer, 1);
  volatile uint8_t* out = model->device.memory(model->device.context) + (size_t)kpu_field(layer, 2) * KPU_UNIT;
  const uint32_t channels = kpu_field(layer, 3);
  for (uint32_t channel = 0; channel < channels; ++channel) out[kpu_channel_offset(&planes, channel)] = in[channel];
}

static lathe_kpu_status check_remove_padding(const lathe_kpu* model, const kpu_layer* layer) {
  const uint32_t channels = kpu_field(layer, 3);
  const uint64_t read = channels == 0 ? 0 : ((uint64_t)channels - 1) * PADDED_PITCH + 1;
  return check_pair(model, layer, read, channels);
}

static void run_remove_padding(const lathe_kpu* model, const kpu_layer* layer) {
  const uint8_t* in = at(model, layer, 1);
  uint8_t* out = at(model, layer, 2);
  const uint32_t channels = kpu_field(layer, 3);
  for (uint32_t channel = 0; channel < channels; ++channel) out[channel] = in[(size_t)channel * PADDED_PITCH];
}

static lathe_kpu_status check_upload(const lathe_kpu* model, const kpu_layer* layer) {
  const uint32_t width = kpu_field(layer, 3), height = kpu_field(layer, 4), channels = kpu_field(layer, 5);
  uint64_t count;
  if (width == 0 || height == 0 || width > UINT16_MAX || height > UINT16_MAX) return LATHE_KPU_BAD_SIZE;
  if (!kpu_volume(layer, 3, &count)) return LATHE_KPU_BAD_SIZE;
  if (!kpu_fits_ram(kpu_field(layer, 2), width, height, channels)) return LATHE_KPU_KPU_MEMORY;
  return check_bytes(model, layer, 1, count);
}

static void run_upload(const lathe_kpu* model, const kpu_layer* layer) {
  kpu_upload(model, kpu_field(layer, 2), kpu_field(layer, 3), kpu_field(layer, 4), kpu_field(layer, 5),
             at(model, layer, 1));
}

const kpu_kind kpu_byte_kinds[] = {
    {2, 14, check_add, run_add},
    {8, 15, check_max_pool, run_max_pool},
    {12, 6, check_dequantize, run_dequantize},
    {13, 68, check_requantize, run_requantize},
    {16, 3, check_concat, run_concat},
    {17, 3, check_concat, run_concat},
    {21, 6, check_flatten, run_flatten},
    {23, 9, check_resize, run_resize},
    {24, 5, check_channel_dequantize, run_channel_dequantize},
    {10241, 4, check_add_padding, run_add_padding},
    {10242, 4, check_remove_padding, run_remove_padding},
    {10243, 6, check_upload, run_upload},
    {0, 0, NULL, NULL},
};
