/* Operators that single elements do not express: determinants, inverses, and samples of places that the data gives. */
#ifndef LATHE_MICRO_OPS_PROCEDURES_H_
#define LATHE_MICRO_OPS_PROCEDURES_H_

#include <math.h>
#include <stdint.h>

/* Rows of `work`, `columns` each, are eliminated below the diagonal (`above`: and above it) with the largest pivots.
 * Returns the product of the pivots, with the sign of the exchanges; 0 where there is no pivot left.
 */
static inline double lm_eliminated(double* work, int32_t size, int32_t columns, int above) {
  double product = 1.0;
  for (int32_t k = 0; k < size; ++k) {
    int32_t best = k;
    for (int32_t i = k + 1; i < size; ++i)
      if (fabs(work[i * columns + k]) > fabs(work[best * columns + k])) best = i;
    const double pivot = work[best * columns + k];
    if (pivot == 0.0) return 0.0;
    if (best != k) {
      product = -product;
      for (int32_t j = 0; j < columns; ++j) {
        const double other = work[best * columns + j];
        work[best * columns + j] = work[k * columns + j];
        work[k * columns + j] = other;
      }
    }
    product *= pivot;
    for (int32_t i = above ? 0 : k + 1; i < size; ++i) {
      const double factor = work[i * columns + k] / pivot;
      if (i == k || factor == 0.0) continue;
      for (int32_t j = k; j < columns; ++j) work[i * columns + j] -= factor * work[k * columns + j];
    }
  }
  return product;
}

static inline void lm_det(const float* x, float* y, double* work, int32_t count, int32_t size) {
  for (int32_t i = 0; i < count; ++i, x += size * size) {
    for (int32_t k = 0; k < size * size; ++k) work[k] = (double)x[k];
    y[i] = (float)lm_eliminated(work, size, size, 0);
  }
}

/* Beside each matrix lies the unit matrix, which becomes its inverse. */
static inline void lm_inverse(const float* x, float* y, double* work, int32_t count, int32_t size) {
  const int32_t columns = 2 * size;
  for (int32_t n = 0; n < count; ++n, x += size * size, y += size * size) {
    for (int32_t i = 0; i < size; ++i)
      for (int32_t j = 0; j < size; ++j) {
        work[i * columns + j] = (double)x[i * size + j];
        work[i * columns + size + j] = i == j ? 1.0 : 0.0;
      }
    const int none = size > 0 && lm_eliminated(work, size, columns, 1) == 0.0;
    for (int32_t i = 0; i < size; ++i)
      for (int32_t j = 0; j < size; ++j)
        y[i * size + j] = none ? NAN : (float)(work[i * columns + size + j] / work[i * columns + i]);
  }
}

/* The element at or before a place, the one behind it, and the part of that; nothing outside. */
static inline int lm_neighbours(float at, int32_t size, int32_t* low, int32_t* high, float* part) {
  if (!(at >= -1.0f && at <= (float)size)) return 0;
  at = at > 0.0f ? at : 0.0f;
  *low = (int32_t)at;
  if (*low >= size - 1) {
    *low = *high = size - 1;
    *part = 0.0f;
  } else {
    *high = *low + 1;
    *part = at - (float)*low;
  }
  return 1;
}

typedef struct lm_regions {
  int32_t pictures, rows, columns, deep; /* of the input */
  int32_t count, out_rows, out_columns;
  float scale;
  int32_t samples, half, largest; /* of roi_align */
} lm_regions;

typedef struct lm_samples {
  float first, step;
  int32_t taken;
} lm_samples;

static inline lm_samples lm_samples_along(float start, float end, int32_t count, const lm_regions* about) {
  const float offset = about->half ? 0.5f : 0.0f;
  const float first = start * about->scale - offset, last = end * about->scale - offset;
  const float width = about->half || last - first > 1.0f ? last - first : 1.0f;
  lm_samples found = {first, width / (float)count, about->samples};
  if (found.taken == 0) {
    const float many = ceilf(found.step);
    found.taken = !(many > 0.0f) ? 0 : many > 256.0f ? 256 : (int32_t)many;
  }
  return found;
}

static inline float lm_sample(const lm_samples* along, int32_t index, int32_t sample) {
  return along->first + (float)index * along->step + ((float)sample + 0.5f) * along->step / (float)along->taken;
}

static inline void lm_roi_element(const float* x, float* y, const lm_samples* down, const lm_samples* across, int32_t i,
                                  int32_t j, const lm_regions* about) {
  const int32_t deep = about->deep, pitch = about->columns * deep, many = down->taken * across->taken;
  for (int32_t c = 0; c < deep; ++c) y[c] = 0.0f;
  for (int32_t k = 0; k < many; ++k) {
    int32_t top = 0, bottom = 0, left = 0, right = 0;
    float low = 0.0f, far = 0.0f;
    const int inside = lm_neighbours(lm_sample(down, i, k / across->taken), about->rows, &top, &bottom, &low) &&
                       lm_neighbours(lm_sample(across, j, k % across->taken), about->columns, &left, &right, &far);
    const float weights[] = {(1.0f - low) * (1.0f - far), (1.0f - low) * far, low * (1.0f - far), low * far};
    const int32_t places[] = {top * pitch + left * deep, top * pitch + right * deep, bottom * pitch + left * deep,
                              bottom * pitch + right * deep};
    for (int32_t c = 0; c < deep; ++c) {
      float sum = 0.0f, largest = inside ? -INFINITY : 0.0f;
      for (int32_t q = 0; inside && q < 4; ++q) {
        const float value = weights[q] * x[places[q] + c];
        sum += value;
        largest = value > largest ? value : largest;
      }
      if (!about->largest)
        y[c] += sum;
      else if (k == 0 || largest > y[c])
        y[c] = largest;
    }
  }
  if (!about->largest && many > 0)
    for (int32_t c = 0; c < deep; ++c) y[c] /= (float)many;
}

static inline void lm_roi_align(const float* x, const float* regions, const int64_t* pictures, float* y,
                                const lm_regions* about) {
  for (int32_t row = 0; row < about->count; ++row, regions += 4) {
    int64_t picture = pictures[row] < 0 ? 0 : pictures[row];
    picture = picture < about->pictures ? picture : about->pictures - 1;
    const float* from = x + (int32_t)picture * about->rows * about->columns * about->deep;
    const lm_samples down = lm_samples_along(regions[1], regions[3], about->out_rows, about);
    const lm_samples across = lm_samples_along(regions[0], regions[2], about->out_columns, about);
    for (int32_t i = 0; i < about->out_rows; ++i)
      for (int32_t j = 0; j < about->out_columns; ++j, y += about->deep)
        lm_roi_element(from, y, &down, &across, i, j, about);
  }
}

/* Half away from zero; wild numbers are limited. */
static inline int64_t lm_rounded_place(float value) {
  if (isnan(value)) return 0;
  const double limited = value > 1e9f ? 1e9 : value < -1e9f ? -1e9 : (double)value;
  return (int64_t)(limited < 0.0 ? -floor(0.5 - limited) : floor(limited + 0.5));
}

/* The elements from `begin` to `end` of a share along one axis. */
static inline void lm_share(float start, float stop, float scale, int32_t index, int32_t count, int32_t size,
                            int32_t* begin, int32_t* end) {
  const int64_t first = lm_rounded_place(start * scale);
  int64_t width = lm_rounded_place(stop * scale) - first + 1;
  width = width > 1 ? width : 1;
  const int64_t from = index * width / count + first, to = ((index + 1) * width + count - 1) / count + first;
  *begin = from < 0 ? 0 : from > size ? size : (int32_t)from;
  *end = to < 0 ? 0 : to > size ? size : (int32_t)to;
}

static inline void lm_max_roi_pool(const float* x, const float* regions, float* y, const lm_regions* about) {
  const int32_t deep = about->deep;
  for (int32_t row = 0; row < about->count; ++row, regions += 5) {
    const float last = (float)(about->pictures - 1);
    const int32_t picture = (int32_t)(!(regions[0] > 0.0f) ? 0.0f : regions[0] < last ? regions[0] : last);
    const float* from = x + picture * about->rows * about->columns * deep;
    for (int32_t i = 0; i < about->out_rows; ++i)
      for (int32_t j = 0; j < about->out_columns; ++j, y += deep) {
        int32_t top, bottom, left, right;
        lm_share(regions[2], regions[4], about->scale, i, about->out_rows, about->rows, &top, &bottom);
        lm_share(regions[1], regions[3], about->scale, j, about->out_columns, about->columns, &left, &right);
        const int some = top < bottom && left < right;
        for (int32_t c = 0; c < deep; ++c) {
          float best = some ? -INFINITY : 0.0f;
          for (int32_t a = top; some && a < bottom; ++a)
            for (int32_t b = left; b < right; ++b) {
              const float value = from[(a * about->columns + b) * deep + c];
              best = value > best || value != value ? value : best;
            }
          y[c] = best;
        }
      }
  }
}

typedef struct lm_deformed {
  int32_t pictures, rows, columns, deep, out_rows, out_columns, made, kernel_h, kernel_w;
  int32_t stride_h, stride_w, top, left, dilation_h, dilation_w, groups, offset_groups;
} lm_deformed;

static inline float lm_place_within(float place, int32_t size) {
  return !(place > -2.0f) ? -2.0f : place > (float)size + 1.0f ? (float)size + 1.0f : place;
}

/* What lies at a place between the elements of one channel: zeros lie outside. */
static inline float lm_between(const float* x, const lm_deformed* about, float row, float column) {
  const float up = floorf(row), back = floorf(column);
  float found = 0.0f;
  for (int32_t q = 0; q < 4; ++q) {
    const int32_t i = (int32_t)up + q / 2, j = (int32_t)back + q % 2;
    if (i < 0 || i >= about->rows || j < 0 || j >= about->columns) continue;
    found +=
        (1.0f - fabsf(row - (float)i)) * (1.0f - fabsf(column - (float)j)) * x[(i * about->columns + j) * about->deep];
  }
  return found;
}

/* One place of the output. `bias` and `mask` may be null. */
static inline void lm_deformed_place(const float* x, const float* weights, const float* offsets, const float* bias,
                                     const float* mask, float* y, int32_t i, int32_t j, const lm_deformed* about) {
  const int32_t taps = about->kernel_h * about->kernel_w, share = about->deep / about->offset_groups;
  const int32_t inside = about->deep / about->groups, each = about->made / about->groups;
  for (int32_t o = 0; o < about->made; ++o) y[o] = bias ? bias[o] : 0.0f;
  for (int32_t g = 0; g < about->offset_groups; ++g)
    for (int32_t tap = 0; tap < taps; ++tap) {
      const int32_t at = g * taps + tap;
      const float row = (float)(i * about->stride_h - about->top + tap / about->kernel_w * about->dilation_h);
      const float column = (float)(j * about->stride_w - about->left + tap % about->kernel_w * about->dilation_w);
      const float down = lm_place_within(row + offsets[2 * at], about->rows);
      const float across = lm_place_within(column + offsets[2 * at + 1], about->columns);
      for (int32_t c = g * share; c < (g + 1) * share; ++c) {
        const float value = lm_between(x + c, about, down, across) * (mask ? mask[at] : 1.0f);
        const int32_t group = c / inside;
        for (int32_t o = group * each; o < (group + 1) * each; ++o)
          y[o] += value * weights[(o * taps + tap) * inside + c % inside];
      }
    }
}

static inline void lm_deform_conv(const float* x, const float* weights, const float* offsets, const float* bias,
                                  const float* mask, float* y, const lm_deformed* about) {
  const int32_t taps = about->kernel_h * about->kernel_w * about->offset_groups;
  for (int32_t n = 0; n < about->pictures; ++n, x += about->rows * about->columns * about->deep)
    for (int32_t i = 0; i < about->out_rows; ++i)
      for (int32_t j = 0; j < about->out_columns; ++j) {
        lm_deformed_place(x, weights, offsets, bias, mask, y, i, j, about);
        y += about->made, offsets += 2 * taps, mask = mask ? mask + taps : mask;
      }
}

#endif /* LATHE_MICRO_OPS_PROCEDURES_H_ */
