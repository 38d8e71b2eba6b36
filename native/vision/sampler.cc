#include "native/vision/sampler.h"

namespace lathe {
namespace vision {
namespace {

// The integer below a / b, for b > 0.
int64_t Floor(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return a % b < 0 ? quotient - 1 : quotient;
}

int Clamped(int64_t x, const Axis& axis) {
  return static_cast<int>(x < axis.low ? axis.low : (x > axis.high ? axis.high : x));
}

// The element of a plane in which the centre of pixel `i` of the result lies.
int NearestOf(const Axis& axis, int i) {
  const int64_t position = (2 * int64_t{i} + 1) * axis.size + 2 * int64_t{axis.origin} * axis.out;
  return Clamped(Floor(position, 2 * int64_t{axis.out} * axis.share), axis);
}

// The elements between which pixel `i` lies: the first one, and the weight of the next in 1/32768.
int BetweenOf(const Axis& axis, int i, int* weight) {
  const int64_t whole = 2 * int64_t{axis.out} * axis.share;
  const int64_t position = (2 * int64_t{i} + 1) * axis.size + 2 * int64_t{axis.origin} * axis.out - whole / 2;
  const int64_t before = Floor(position, whole);
  *weight = 0;
  if (before < axis.low || axis.low == axis.high) return axis.low;
  if (before >= axis.high) {
    *weight = 32767;
    return axis.high - 1;
  }
  const uint32_t rest = static_cast<uint32_t>(position - before * whole);
  *weight = static_cast<int>((rest << 15) / static_cast<uint32_t>(whole));
  return static_cast<int>(before);
}

const uint8_t* InPlace(const Sampler& sampler, int y) {
  return sampler.plane.row(y) + static_cast<size_t>(sampler.x.origin + sampler.first) * sampler.plane.pixel;
}

bool Packed(const Sampler& sampler) { return sampler.channels == sampler.plane.pixel; }

void StartNearest(Sampler* sampler) {
  for (int i = 0; i < sampler->count; ++i) {
    sampler->offsets[i] = NearestOf(sampler->x, sampler->first + i) * sampler->plane.pixel;
  }
}

template <int channels>
void Pick(const Sampler& sampler, const uint8_t* row, uint8_t* target) {
  for (int i = 0; i < sampler.count; ++i) {
    const uint8_t* pixel = row + sampler.offsets[i];
    for (int c = 0; c < channels; ++c) target[i * channels + c] = pixel[c];
  }
}

const uint8_t* NearestRow(Sampler* sampler, int y, uint8_t* buffer) {
  const int source = NearestOf(sampler->y, y);
  if (sampler->x.keeps() && Packed(*sampler)) return InPlace(*sampler, source);
  const uint8_t* row = sampler->plane.row(source);
  if (sampler->channels == 1) Pick<1>(*sampler, row, buffer);
  if (sampler->channels == 2) Pick<2>(*sampler, row, buffer);
  if (sampler->channels == 3) Pick<3>(*sampler, row, buffer);
  if (sampler->channels == 4) Pick<4>(*sampler, row, buffer);
  return buffer;
}

void StartBilinear(Sampler* sampler) {
  const int pixel = sampler->plane.pixel;
  sampler->step = sampler->x.low == sampler->x.high ? 0 : static_cast<size_t>(pixel);
  sampler->row_numbers[0] = sampler->row_numbers[1] = -1;
  sampler->safe = 0;
  const size_t row_bytes = sampler->plane.row_bytes();
  for (int i = 0; i < sampler->count; ++i) {
    int weight;
    sampler->offsets[i] = BetweenOf(sampler->x, sampler->first + i, &weight) * pixel;
    sampler->weights[i] = static_cast<int16_t>(weight);
    if (static_cast<size_t>(sampler->offsets[i]) + 8 <= row_bytes) sampler->safe = static_cast<size_t>(i) + 1;
  }
}

// A row of the plane, resized across; it is kept, and so is the row `other`.
const int16_t* Across(Sampler* sampler, int row, int other, const ResizeRows& rows) {
  for (int k = 0; k < 2; ++k) {
    if (sampler->row_numbers[k] == row) return sampler->rows[k];
  }
  const int place = sampler->row_numbers[0] == other ? 1 : 0;
  sampler->row_numbers[place] = row;
  const Columns columns = {sampler->offsets, sampler->weights, static_cast<size_t>(sampler->count), sampler->safe};
  rows.across(sampler->plane.row(row), columns, sampler->channels, sampler->step, sampler->rows[place]);
  return sampler->rows[place];
}

const uint8_t* BilinearRow(Sampler* sampler, int y, uint8_t* buffer) {
  int weight;
  const int top = BetweenOf(sampler->y, y, &weight);
  if (sampler->x.keeps() && weight == 0 && Packed(*sampler)) return InPlace(*sampler, top);
  const int bottom = weight == 0 ? top : top + 1;
  const ResizeRows& rows = *resize_rows[BestRows()];
  const int16_t* first = Across(sampler, top, bottom, rows);
  const int16_t* second = Across(sampler, bottom, top, rows);
  rows.down(first, second, weight, static_cast<size_t>(sampler->count * sampler->channels), buffer);
  return buffer;
}

// What pixel `i` of the result covers, in elements of a plane.
struct Cover {
  double start;
  double end;
  int low;
  int high;  // the last one

  // The share of an element that lies inside.
  LATHE_INLINE float weight(int element) const {
    const double from = start > element ? start : element;
    const double to = end < element + 1 ? end : element + 1;
    return static_cast<float>(to - from);
  }
};

Cover CoverOf(const Axis& axis, int i) {
  const double scale = static_cast<double>(axis.out) * axis.share;
  const int64_t start = int64_t{i} * axis.size + int64_t{axis.origin} * axis.out;
  Cover cover = {static_cast<double>(start) / scale, static_cast<double>(start + axis.size) / scale, 0, 0};
  if (cover.end > axis.high + 1) cover.end = axis.high + 1;
  const int64_t whole = int64_t{axis.out} * axis.share;
  cover.low = Clamped(Floor(start, whole), axis);
  cover.high = Clamped(Floor(start + axis.size - 1, whole), axis);
  return cover;
}

// Means of integers are often exact halves: rounding errors do not decide about them.
constexpr float kHalf = 0.5f + 1.0f / 4096;

constexpr int kSpan = 1024;  // elements of a row that are added at once

// The rows that row `y` of the result covers, from element `low` on, added with their shares.
void Sum(const Sampler& sampler, const Cover& rows, int low, int count, float* sums, const ResizeRows& functions) {
  // The last element of YUYV ends with the byte that is read.
  const size_t elements = static_cast<size_t>((count - 1) * sampler.plane.pixel + sampler.channels);
  memset(sums, 0, elements * sizeof(float));
  const float area = static_cast<float>(rows.end - rows.start);
  for (int row = rows.low; row <= rows.high; ++row) {
    const uint8_t* source = sampler.plane.row(row) + static_cast<size_t>(low) * sampler.plane.pixel;
    functions.add(source, rows.weight(row) / area, elements, sums);
  }
}

// What the elements from `low` on contribute to a pixel of the result.
void AddColumns(const Sampler& sampler, const Cover& columns, int low, int from, int to, const float* sums,
                float (&total)[4]) {
  const float area = static_cast<float>(columns.end - columns.start);
  for (int x = from; x <= to; ++x) {
    const float weight = columns.weight(x) / area;
    const float* pixel = sums + static_cast<size_t>(x - low) * sampler.plane.pixel;
    for (int c = 0; c < sampler.channels; ++c) total[c] += weight * pixel[c];
  }
}

const uint8_t* AreaRow(Sampler* sampler, int y, uint8_t* buffer) {
  const ResizeRows& functions = *resize_rows[BestRows()];
  const Cover rows = CoverOf(sampler->y, y);
  float sums[kSpan * 4];
  int low = 0, high = -1;  // the elements whose sums there are
  for (int i = 0; i < sampler->count; ++i) {
    const Cover columns = CoverOf(sampler->x, sampler->first + i);
    float total[4] = {};
    for (int from = columns.low; from <= columns.high;) {
      if (from < low || from > high) {
        const Cover last = CoverOf(sampler->x, sampler->first + sampler->count - 1);
        low = from;
        high = last.high < from + kSpan - 1 ? last.high : from + kSpan - 1;
        Sum(*sampler, rows, low, high - low + 1, sums, functions);
      }
      const int to = columns.high < high ? columns.high : high;
      AddColumns(*sampler, columns, low, from, to, sums, total);
      from = to + 1;
    }
    for (int c = 0; c < sampler->channels; ++c) {
      const float value = total[c] + kHalf;
      buffer[i * sampler->channels + c] = static_cast<uint8_t>(value > 255.0f ? 255.0f : value);
    }
  }
  return buffer;
}

void StartArea(Sampler*) {}

}  // namespace

const Filter nearest_filter = {StartNearest, NearestRow};
const Filter bilinear_filter = {StartBilinear, BilinearRow};
const Filter area_filter = {StartArea, AreaRow};

const Filter* FilterOf(uint32_t filter, const ErrorSink& errors) {
  if (filter == LATHE_NEAREST) return &nearest_filter;
  if (filter == LATHE_BILINEAR) return &bilinear_filter;
  if (filter == LATHE_AREA) return &area_filter;
  errors.Fail(Code::kInvalidArgument, "%u is no filter", filter);
  return nullptr;
}

}  // namespace vision
}  // namespace lathe
