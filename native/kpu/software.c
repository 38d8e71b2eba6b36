/* The KPU in software, to the last bit.
 *
 * An image is cut into tiles of whole rows. A tile holds the rows of some input channels one behind the other, with
 * their borders, so that a tap of a kernel is the tile from some byte on, and rows need no loop of their own.
 */
#include <string.h>

#include "activation.h"
#include "layer.h"
#include "taps.h"
#include "vectors.h"

enum {
  SPILL = 16,        /* channels whose sums of 16-bit weights fit into 32 bits */
  PIXELS = 512,      /* of a tile, where rows are not longer */
  FEWER_PIXELS = 256 /* the same for vector units, which want more lanes of each */
};

/* One convolution while it is computed. */
typedef struct job {
  const lathe_kpu_software* software;
  const lathe_kpu_convolution* layer;
  kpu_activation act;
  const kpu_vectors* vectors; /* NULL: this processor has none */
  bool in_pairs;              /* of channels, a tile: for vector units */
  bool in_windows;            /* for vector units: a channel after the other, zero points in the weights */
  kpu_planes in_planes, out_planes;
  uint32_t border;        /* of the tile, on each side: 0 or 1 */
  uint32_t sampling;      /* only each such row and column is computed, where that is what a pool leaves */
  uint32_t first_column;  /* of those */
  uint32_t pool;          /* what is left to do */
  uint32_t width, height; /* of the plane before that */
  uint32_t stride;        /* of rows of a tile */
  uint32_t step;          /* rows of a window of the pool */
  uint32_t rows;          /* of a tile that are computed, without the one that windows share */
  uint32_t lanes;         /* output channels that are computed together */
  uint32_t lane_stride;   /* sums from one of them to the next */
  uint32_t chunk;         /* input channels of a tile */
  uint32_t channel_bytes; /* of a tile */
} job;

/* A part of the result: some rows of some output channels. */
typedef struct tile {
  uint32_t first_row, rows; /* with the row that windows share */
  uint32_t first_lane, lanes;
  uint32_t pixels;
} tile;

/* --- how a layer is cut --- */

/* Where no vector unit may be there, the compiler leaves out what would use it. */
static bool in_pairs(const job* work) { return KPU_MAY_HAVE_VECTORS && work->in_pairs; }

static bool in_windows(const job* work) { return KPU_MAY_HAVE_VECTORS && work->in_windows; }

static void plan(job* work) {
  const lathe_kpu_convolution* layer = work->layer;
  work->in_planes = kpu_planes_of(layer->in_width, layer->in_height);
  work->out_planes = kpu_planes_of(layer->out_width, layer->out_height);
  work->border = layer->kernel / 2;
  work->pool = layer->pool;
  work->sampling = 1;
  work->first_column = 0;
  work->width = layer->in_width;
  work->height = layer->in_height;
  if (layer->kernel == 1 && layer->pool >= 5 && layer->pool <= 7) {
    work->sampling = kpu_pool_step(layer->pool);
    work->first_column = layer->pool == 6 ? 1 : 0;
    work->pool = 0;
    work->width = layer->out_width;
    work->height = layer->out_height;
  }
  work->stride = work->width + 2 * work->border;
  work->step = kpu_pool_step(work->pool);
  const uint32_t shared = work->pool >= 8 ? 1 : 0;
  work->in_pairs = work->vectors != NULL && !layer->depthwise && layer->weight_bytes == 1 && layer->shr_x == 0;
  work->in_windows = work->vectors != NULL && layer->depthwise && layer->kernel == 3 && layer->weight_bytes == 1 &&
                     layer->shr_x == 0 && layer->arg_x <= 0 && layer->arg_x >= -UINT8_MAX;
  const uint32_t most = in_pairs(work) ? FEWER_PIXELS : PIXELS;
  uint32_t rows = work->step;
  while (rows < work->height && (rows + work->step + shared) * work->stride <= most) rows += work->step;
  work->rows = rows;
  const uint32_t most_rows = rows + shared;
  work->channel_bytes = (most_rows + 2 * work->border) * work->stride + 2 * work->border;
  work->lane_stride = (most_rows * work->stride + KPU_STEP - 1) / KPU_STEP * KPU_STEP;
  work->lanes = layer->depthwise || layer->weight_bytes == 2 ? 1 : LATHE_KPU_SUMS / work->lane_stride;
  if (work->lanes > LATHE_KPU_LANES) work->lanes = LATHE_KPU_LANES;
  work->chunk = LATHE_KPU_TILE / work->channel_bytes;
  if (in_pairs(work)) {
    const uint32_t most_channels = 2 * KPU_MOST_PAIRS / (layer->kernel * layer->kernel);
    if (work->chunk > most_channels) work->chunk = most_channels;
    work->chunk -= work->chunk % 2;
    work->lanes -= work->lanes % KPU_TOGETHER;
  }
  if (layer->weight_bytes == 2 && work->chunk > SPILL) work->chunk = SPILL;
  if (layer->depthwise) work->chunk = 1;
}

static const uint8_t* plane_of(const job* work, uint32_t channel) {
  const size_t source = (size_t)work->layer->source * KPU_UNIT;
  return work->software->ram + source + kpu_channel_offset(&work->in_planes, channel);
}

/* Where a row of a tile lies in a plane, the first of which is `i` 0; false where it is a border. */
static bool row_of(const job* work, const tile* part, uint32_t i, size_t* offset) {
  const uint32_t y = part->first_row + i - work->border; /* wraps above the image: then it is not in it */
  *offset = (size_t)y * work->sampling * work->in_planes.row;
  return y < work->height;
}

/* Rows of one input channel, with borders: `to` has work->channel_bytes bytes. */
static void gather(const job* work, const tile* part, uint32_t channel, uint8_t* to) {
  const uint8_t* plane = plane_of(work, channel);
  if (work->border != 0) memset(to, (int)work->layer->pad_value, work->channel_bytes);
  const uint32_t rows = part->rows + 2 * work->border;
  for (uint32_t i = 0; i < rows; ++i, to += work->stride) {
    size_t offset;
    if (!row_of(work, part, i, &offset)) continue;
    const uint8_t* row = plane + offset;
    if (work->sampling == 1) {
      memcpy(to + work->border, row, work->width);
    } else {
      for (uint32_t x = 0; x < work->width; ++x) to[x] = row[work->first_column + x * work->sampling];
    }
  }
}

/* The same of two channels, pixel by pixel. */
static void gather_pair(const job* work, const tile* part, uint32_t even, uint32_t odd, uint8_t* to) {
  const uint8_t* planes[2] = {plane_of(work, even), plane_of(work, odd)};
  if (work->border != 0) memset(to, (int)work->layer->pad_value, 2 * (size_t)work->channel_bytes);
  const uint32_t rows = part->rows + 2 * work->border;
  for (uint32_t i = 0; i < rows; ++i, to += 2 * (size_t)work->stride) {
    size_t offset;
    if (!row_of(work, part, i, &offset)) continue;
    if (work->sampling == 1) {
      const size_t border = 2 * (size_t)work->border;
      work->vectors->interleave(to + border, planes[0] + offset, planes[1] + offset, work->width);
      continue;
    }
    for (uint32_t x = 0; x < work->width; ++x) {
      const size_t column = offset + work->first_column + x * work->sampling;
      to[2 * (size_t)x] = planes[0][column];
      to[2 * (size_t)x + 1] = planes[1][column];
    }
  }
}

/* --- sums --- */

static const uint8_t* weights_of(const lathe_kpu_convolution* layer, uint32_t lane) {
  return layer->weights + (size_t)(lane / layer->load_channels) * layer->load_bytes +
         (size_t)(lane % layer->load_channels) * layer->kernel_bytes;
}

static uint32_t weight(const lathe_kpu_convolution* layer, const uint8_t* weights, uint32_t index) {
  if (layer->weight_bytes == 1) return weights[index];
  return (uint32_t)weights[2 * index] | (uint32_t)weights[2 * index + 1] << 8;
}

/* What does not depend on the input: the weights' own term, and arg_add. */
static int64_t lane_term(const lathe_kpu_convolution* layer, uint32_t lane) {
  const uint32_t taps = layer->kernel * layer->kernel;
  const uint32_t sources = layer->depthwise ? 1 : layer->in_channels;
  const uint8_t* weights = weights_of(layer, lane);
  int64_t total = layer->arg_add * sources;
  if (layer->arg_w == 0) return total;
  for (uint32_t source = 0; source < sources; ++source) {
    int64_t sum = 0;
    for (uint32_t tap = 0; tap < taps; ++tap) sum += weight(layer, weights, source * taps + tap);
    total += (layer->arg_w * sum) >> layer->shr_w;
  }
  return total;
}

/* The input's own term of each pixel, of one channel, where it is shifted before the channels are added up. */
static void add_shifted_terms(const job* work, const tile* part, const uint8_t* channel, int64_t* terms) {
  const lathe_kpu_convolution* layer = work->layer;
  for (uint32_t p = 0; p < part->pixels; ++p) {
    int64_t sum = 0;
    for (uint32_t row = 0; row < layer->kernel; ++row) {
      for (uint32_t column = 0; column < layer->kernel; ++column) sum += channel[p + row * work->stride + column];
    }
    terms[p] += (layer->arg_x * sum) >> layer->shr_x;
  }
}

/* Adds the products of the channels in the tile and weights of bytes. */
static void add_products(const job* work, const tile* part, const uint8_t* in, const uint8_t* weights,
                         uint32_t channels, uint32_t* sums) {
  if (work->layer->kernel == 3) {
    for (uint32_t i = 0; i < channels; ++i, in += work->channel_bytes, weights += 9) {
      kpu_add_3x3(sums, in, work->stride, weights, part->pixels);
    }
    return;
  }
  uint32_t i = 0;
  for (; i + 4 <= channels; i += 4, in += (size_t)4 * work->channel_bytes) {
    kpu_add_four(sums, in, work->channel_bytes, weights + i, part->pixels);
  }
  for (; i < channels; ++i, in += work->channel_bytes) kpu_add_wide(sums, in, weights[i], part->pixels);
}

/* The same for weights of 16 bits. The sums go over into wider ones before they are full. */
static void add_wide_products(const job* work, const tile* part, lathe_kpu_workspace* space, const uint8_t* weights,
                              uint32_t channels) {
  const lathe_kpu_convolution* layer = work->layer;
  const uint32_t taps = layer->kernel * layer->kernel;
  for (uint32_t i = 0; i < channels * taps; ++i) {
    const uint32_t tap = i % taps;
    const size_t offset = (size_t)(i / taps) * work->channel_bytes + tap / layer->kernel * work->stride;
    kpu_add_wide(space->sums, space->tile + offset + tap % layer->kernel, weight(layer, weights, i), part->pixels);
  }
  for (uint32_t p = 0; p < part->pixels; ++p) {
    space->pixel_terms.whole[p] += space->sums[p];
    space->sums[p] = 0;
  }
}

/* What the input adds whatever the weights are, of the channels in the tile. */
static void add_pixel_terms(const job* work, const tile* part, lathe_kpu_workspace* space, uint32_t channels) {
  const lathe_kpu_convolution* layer = work->layer;
  const uint32_t step = layer->kernel == 3 ? 1 : 8;
  if (layer->shr_x != 0) {
    for (uint32_t i = 0; i < channels; ++i) {
      add_shifted_terms(work, part, space->tile + (size_t)i * work->channel_bytes, space->pixel_terms.whole);
    }
    return;
  }
  static const uint8_t ones[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  for (uint32_t i = 0; i < channels; i += step) {
    const uint32_t some = channels - i < step ? channels - i : step;
    add_products(work, part, space->tile + (size_t)i * work->channel_bytes, ones, some, space->pixel_sums);
  }
}

/* The products of a tile of pairs: with the weights of all lanes, and with ones. */
static void add_pairs(const job* work, const tile* part, lathe_kpu_workspace* space, uint32_t first,
                      uint32_t channels) {
  const lathe_kpu_convolution* layer = work->layer;
  const uint32_t taps = layer->kernel * layer->kernel;
  kpu_products products = {
      .tile = space->tile,
      .pairs = (channels + 1) / 2,
      .pair_bytes = 2 * work->channel_bytes,
      .taps = taps,
      .weights = space->weights,
      .pixels = part->pixels,
  };
  for (uint32_t tap = 0; tap < taps; ++tap) {
    products.offsets[tap] = tap / layer->kernel * work->stride + tap % layer->kernel;
  }
  const uint32_t all = products.pairs * taps * KPU_TOGETHER;
  if (layer->arg_x != 0) {
    for (uint32_t i = 0; i < all; ++i) {
      const bool is_alone = channels % 2 != 0 && i / (taps * KPU_TOGETHER) + 1 == products.pairs;
      space->weights[i] = is_alone ? 1 : 1 | 1 << 16;
    }
    work->vectors->multiply(&products, space->pixel_sums, 0); /* all lanes are the same */
  }
  for (uint32_t lane = 0; lane < part->lanes; lane += KPU_TOGETHER) {
    for (uint32_t i = 0; i < KPU_TOGETHER; ++i) {
      uint32_t* to = space->weights + i;
      if (lane + i >= part->lanes) {
        for (uint32_t j = i; j < all; j += KPU_TOGETHER) space->weights[j] = 0;
        continue;
      }
      const uint8_t* even = weights_of(layer, part->first_lane + lane + i) + (size_t)first * taps;
      for (uint32_t channel = 0; channel < channels; channel += 2, even += 2 * (size_t)taps) {
        const uint32_t second = channel + 1 < channels ? taps : 0;
        for (uint32_t tap = 0; tap < taps; ++tap, to += KPU_TOGETHER) {
          *to = even[tap] | (second != 0 ? (uint32_t)even[tap + second] << 16 : 0);
        }
      }
    }
    work->vectors->multiply(&products, space->sums + (size_t)lane * work->lane_stride, work->lane_stride);
  }
}

/* Products of some input channels, which are brought into the tile. */
static void add_chunk(const job* work, const tile* part, lathe_kpu_workspace* space, uint32_t first,
                      uint32_t channels) {
  const lathe_kpu_convolution* layer = work->layer;
  const uint32_t taps_bytes = layer->kernel * layer->kernel * layer->weight_bytes;
  if (in_pairs(work)) {
    for (uint32_t i = 0; i < channels; i += 2) {
      const uint32_t odd = i + 1 < channels ? i + 1 : i;
      gather_pair(work, part, first + i, first + odd, space->tile + (size_t)i * work->channel_bytes);
    }
    add_pairs(work, part, space, first, channels);
    return;
  }
  for (uint32_t i = 0; i < channels; ++i) {
    gather(work, part, first + i, space->tile + (size_t)i * work->channel_bytes);
  }
  if (in_windows(work)) {
    const uint8_t* weights = weights_of(layer, part->first_lane);
    int16_t shifted[9];
    for (uint32_t tap = 0; tap < 9; ++tap) shifted[tap] = (int16_t)(weights[tap] + layer->arg_x);
    work->vectors->add_window(space->sums, space->tile, work->stride, shifted, part->pixels);
    return;
  }
  if (layer->arg_x != 0) add_pixel_terms(work, part, space, channels);
  const uint32_t begin = layer->depthwise ? part->first_lane : 0;
  for (uint32_t i = 0; i < part->lanes; ++i) {
    const uint8_t* weights = weights_of(layer, part->first_lane + i) + (size_t)(first - begin) * taps_bytes;
    if (layer->weight_bytes == 2) {
      add_wide_products(work, part, space, weights, channels);
    } else {
      add_products(work, part, space->tile, weights, channels, space->sums + (size_t)i * work->lane_stride);
    }
  }
}

/* The sums of all lanes of a tile. */
static void add_channels(const job* work, const tile* part, lathe_kpu_workspace* space) {
  const lathe_kpu_convolution* layer = work->layer;
  const uint32_t begin = layer->depthwise ? part->first_lane : 0;
  const uint32_t end = layer->depthwise ? begin + 1 : layer->in_channels;
  const uint32_t lanes = (part->lanes + KPU_TOGETHER - 1) / KPU_TOGETHER * KPU_TOGETHER;
  memset(space->sums, 0, (size_t)(in_pairs(work) ? lanes : part->lanes) * work->lane_stride * sizeof *space->sums);
  if (!in_windows(work)) {
    memset(space->pixel_sums, 0, work->lane_stride * sizeof *space->pixel_sums);
    memset(space->pixel_terms.whole, 0, work->lane_stride * sizeof *space->pixel_terms.whole);
  }
  for (uint32_t first = begin; first < end; first += work->chunk) {
    add_chunk(work, part, space, first, end - first < work->chunk ? end - first : work->chunk);
  }
  for (uint32_t p = 0; !in_windows(work) && p < part->pixels; ++p) {
    space->pixel_terms.whole[p] += (int64_t)layer->arg_x * space->pixel_sums[p];
  }
}

/* --- what follows the sums --- */

/* A batch norm. */
typedef struct norm {
  int64_t factor, addend;
  uint32_t shift;
} norm;

static norm norm_of(const lathe_kpu_convolution* layer, uint32_t lane) {
  const uint64_t word = kpu_long(layer->batch_norm + (size_t)lane * 8);
  const norm read = {kpu_signed_bits(word, 0, 24), kpu_signed_bits(word, 24, 32), kpu_bits(word, 56, 4)};
  return read;
}

static uint64_t size_of(int64_t value) { return value < 0 ? 0 - (uint64_t)value : (uint64_t)value; }

/* Whether vector units can finish all lanes of a tile: no number on the way is as large as 2^53. */
static bool stays_exact(const job* work, const tile* part, const lathe_kpu_workspace* space) {
  static const uint64_t most_products = (uint64_t)1 << 53, most_results = (uint64_t)1 << 36;
  const lathe_kpu_convolution* layer = work->layer;
  const uint64_t sources = layer->depthwise ? 1 : layer->in_channels;
  const uint64_t sums = sources * layer->kernel * layer->kernel * UINT8_MAX * UINT8_MAX;
  uint64_t pixels = 0;
  for (uint32_t p = 0; !in_windows(work) && p < part->pixels; ++p) {
    const uint64_t size = size_of(space->pixel_terms.whole[p]);
    pixels = size > pixels ? size : pixels;
  }
  if (pixels > most_results) return false;
  for (uint32_t i = 0; i < part->lanes; ++i) {
    const norm by = norm_of(layer, part->first_lane + i);
    const uint64_t term = size_of(space->lane_terms[i]);
    if (term > most_results) return false;
    const uint64_t total = pixels + term + sums;
    const uint64_t factor = size_of(by.factor);
    if (factor != 0 && total > most_products / factor) return false;
    if ((total * factor >> by.shift) + size_of(by.addend) + 1 > most_results) return false;
  }
  return true;
}

static void finish_in_vectors(const job* work, const tile* part, lathe_kpu_workspace* space, uint32_t index) {
  const norm by = norm_of(work->layer, part->first_lane + index);
  const kpu_finish lane = {
      .sums = space->sums + (size_t)index * work->lane_stride,
      .pixel_terms = space->pixel_terms.real,
      .lane_term = (double)space->lane_terms[index],
      .factor = (double)by.factor,
      .scale = 1.0 / (double)(1u << by.shift),
      .addend = (double)by.addend,
      .pieces = work->act.pieces,
      .piece_count = work->act.piece_count,
      .pixels = part->pixels,
      .results = space->results,
  };
  work->vectors->finish(&lane);
}

static void finish_lane(const job* work, const tile* part, lathe_kpu_workspace* space, uint32_t index) {
  const norm by = norm_of(work->layer, part->first_lane + index);
  const uint32_t* sums = space->sums + (size_t)index * work->lane_stride;
  const int64_t term = space->lane_terms[index];
  for (uint32_t row = 0; row < part->rows; ++row) {
    const size_t begin = (size_t)row * work->stride;
    for (size_t p = begin; p < begin + work->width; ++p) {
      const int64_t value = (int32_t)sums[p] + space->pixel_terms.whole[p] + term;
      space->results[p] =
          kpu_activated(&work->act, kpu_wrapped_sum(kpu_wrapped_product(value, by.factor) >> by.shift, by.addend));
    }
  }
}

/* A value of the plane before a pool; behind the edges the last column and row go on. */
static uint8_t pixel(const job* work, const tile* part, const uint8_t* results, uint32_t x, uint32_t y) {
  const uint32_t column = x < work->width ? x : work->width - 1;
  const uint32_t last = work->height - 1 - part->first_row;
  return results[(size_t)(y < last ? y : last) * work->stride + column];
}

static uint8_t pooled(const job* work, const tile* part, const uint8_t* results, uint32_t x, uint32_t y) {
  const uint32_t left = x * work->step, top = y * work->step;
  const uint32_t side = work->pool == 3 || work->pool == 4 ? 4 : 2;
  uint32_t most = 0, sum = 0;
  if (work->pool == 6) return pixel(work, part, results, left + 1, top);
  for (uint32_t i = 0; i < side * side; ++i) {
    const uint32_t value = pixel(work, part, results, left + i % side, top + i / side);
    most = value > most ? value : most;
    sum += value;
  }
  const bool maximum = work->pool == 1 || work->pool == 3 || work->pool == 9;
  return (uint8_t)(maximum ? most : sum / (side * side));
}

/* Pools what a lane of a tile gave, and puts it where it belongs. */
static void store_lane(const job* work, const tile* part, lathe_kpu_workspace* space, uint32_t index) {
  const lathe_kpu_convolution* layer = work->layer;
  const uint32_t lane = part->first_lane + index;
  const uint32_t first = part->first_row / work->step;
  uint32_t end = (part->first_row + work->rows) / work->step;
  end = end < layer->out_height ? end : layer->out_height;
  uint8_t* to = work->software->ram + (size_t)layer->target * KPU_UNIT + kpu_channel_offset(&work->out_planes, lane);
  size_t pitch = work->out_planes.row;
  if (layer->main_output != NULL) {
    pitch = layer->out_width;
    to = layer->main_output + (size_t)lane * layer->out_height * pitch;
  }
  const bool first_of_each = work->pool == 5 || work->pool == 7;
  for (uint32_t y = first; y < end; ++y) {
    uint8_t* row = to + (size_t)y * pitch;
    if (first_of_each) {
      const uint8_t* from = space->results + (size_t)(y - first) * work->step * work->stride;
      for (uint32_t x = 0; x < layer->out_width; ++x) row[x] = from[x * work->step];
      continue;
    }
    if (work->pool == 0) {
      memcpy(row, space->results + (size_t)(y - first) * work->stride, layer->out_width);
      continue;
    }
    for (uint32_t x = 0; x < layer->out_width; ++x) row[x] = pooled(work, part, space->results, x, y - first);
  }
}

static void finish_tile(const job* work, const tile* part, lathe_kpu_workspace* space) {
  const bool in_vectors = KPU_MAY_HAVE_VECTORS && work->vectors != NULL && stays_exact(work, part, space);
  if (in_vectors) {
    for (uint32_t p = 0; !in_windows(work) && p < part->pixels; ++p)
      space->pixel_terms.real[p] = (double)space->pixel_terms.whole[p];
  }
  for (uint32_t i = 0; i < part->lanes; ++i) {
    if (in_vectors) {
      finish_in_vectors(work, part, space, i);
    } else {
      finish_lane(work, part, space, i);
    }
    store_lane(work, part, space, i);
  }
}

/* Each part of a job takes each so many-th group of lanes. */
static void run_part(void* argument, uint32_t index) {
  const job* work = (const job*)argument;
  const uint32_t parts = work->software->parts;
  lathe_kpu_workspace* space = work->software->workspaces + index;
  tile part;
  memset(&space->pixel_terms, 0, sizeof space->pixel_terms);
  for (part.first_lane = index * work->lanes; part.first_lane < work->layer->out_channels;
       part.first_lane += parts * work->lanes) {
    const uint32_t left = work->layer->out_channels - part.first_lane;
    part.lanes = left < work->lanes ? left : work->lanes;
    for (uint32_t i = 0; i < part.lanes; ++i) space->lane_terms[i] = lane_term(work->layer, part.first_lane + i);
    for (part.first_row = 0; part.first_row < work->height; part.first_row += work->rows) {
      const uint32_t rows_left = work->height - part.first_row;
      const uint32_t rows = work->rows + (work->pool >= 8 ? 1 : 0);
      part.rows = rows < rows_left ? rows : rows_left;
      part.pixels = part.rows * work->stride;
      add_channels(work, &part, space);
      finish_tile(work, &part, space);
    }
  }
}

/* The KPU keeps its planes, too, of what it sends to the main memory. */
static void keep_planes(const job* work) {
  const lathe_kpu_convolution* layer = work->layer;
  const uint8_t* from = layer->main_output;
  for (uint32_t lane = 0; lane < layer->out_channels; ++lane) {
    size_t to = (size_t)layer->target * KPU_UNIT + kpu_channel_offset(&work->out_planes, lane);
    for (uint32_t y = 0; y < layer->out_height; ++y, to += work->out_planes.row, from += layer->out_width) {
      if (to + layer->out_width <= LATHE_KPU_RAM_BYTES) memcpy(work->software->ram + to, from, layer->out_width);
    }
  }
}

static lathe_kpu_status convolve(void* context, const lathe_kpu_convolution* layer) {
  const lathe_kpu_software* software = (const lathe_kpu_software*)context;
  job work;
  work.software = software;
  work.layer = layer;
  work.vectors = kpu_vectors_here();
  kpu_read_activation(layer->activation, &work.act);
  if (KPU_MAY_HAVE_VECTORS && work.vectors != NULL) kpu_find_pieces(&work.act);
  plan(&work);
  if (software->parallel != NULL) {
    software->parallel(software->parallel_context, run_part, &work, software->parts);
  } else {
    for (uint32_t index = 0; index < software->parts; ++index) run_part(&work, index);
  }
  if (layer->main_output != NULL) keep_planes(&work);
  return LATHE_KPU_OK;
}

static lathe_kpu_status begin(void* context, uint32_t eight_bit) {
  const lathe_kpu_software* software = (const lathe_kpu_software*)context;
  (void)eight_bit; /* each convolution says so */
  const bool usable = software->ram != NULL && software->workspaces != NULL && software->parts != 0;
  return usable ? LATHE_KPU_OK : LATHE_KPU_BAD_ARGUMENT;
}

static volatile uint8_t* memory(void* context) { return ((const lathe_kpu_software*)context)->ram; }

lathe_kpu_device lathe_kpu_software_device(lathe_kpu_software* software) {
  const lathe_kpu_device device = {software, 4, 1, begin, memory, convolve};
  return device;
}
