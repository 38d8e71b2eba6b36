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
  const size_t row_bytes = sampler->plane.row_bytes();
  sampler->safe = 0;
  for (int i = 0; i < sampler->count; ++i) {
    sampler->offsets[i] = NearestOf(sampler->x, sampler->first + i) * sampler->plane.pixel;
    if (static_cast<size_t>(sampler->offsets[i]) + 4 <= row_bytes) sampler->safe = static_cast<size_t>(i) + 1;
  }
}

template <int channels>
void Pick(const Sampler& sampler, const uint8_t* row, uint8_t* target) {
  int i = 0;
  // One byte more than is wanted: the next pixel writes it again.
  const int whole = channels == 3 ? static_cast<int>(sampler.safe) - 1 : 0;
  for (; i < whole; ++i) memcpy(target + i * 3, row + sampler.offsets[i], 4);
  for (; i < sampler.count; ++i) memcpy(target + i * channels, row + sampler.offsets[i], channels);
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
const int16_t* Across(Sampler* sampler, int row, int other) {
  for (int k = 0; k < 2; ++k) {
    if (sampler->row_numbers[k] == row) return sampler->rows[k];
  }
  const int place = sampler->row_numbers[0] == other ? 1 : 0;
  sampler->row_numbers[place] = row;
  const Columns columns = {sampler->offsets, sampler->weights, static_cast<size_t>(sampler->count), sampler->safe};
  resize_across.of(sampler->set)(sampler->plane.row(row), columns, sampler->channels, sampler->step,
                                 sampler->rows[place]);
  return sampler->rows[place];
}

const uint8_t* BilinearRow(Sampler* sampler, int y, uint8_t* buffer) {
  int weight;
  const int top = BetweenOf(sampler->y, y, &weight);
  if (sampler->x.keeps() && weight == 0 && Packed(*sampler)) return InPlace(*sampler, top);
  const int bottom = weight == 0 ? top : top + 1;
  const int16_t* first = Across(sampler, top, bottom);
  const int16_t* second = Across(sampler, bottom, top);
  resize_down.of(sampler->set)(first, second, weight, static_cast<size_t>(sampler->count * sampler->channels), buffer);
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
  if (cover.start < axis.low) cover.start = axis.low;
  if (cover.end > axis.high + 1) cover.end = axis.high + 1;
  const int64_t whole = int64_t{axis.out} * axis.share;
  cover.low = Clamped(Floor(start, whole), axis);
  cover.high = Clamped(Floor(start + axis.size - 1, whole), axis);
  return cover;
}

constexpr int kSpan = 1024;  // elements of a row that are added at once

// The rows that row `y` of the result covers, from element `low` on, added with their shares.
void Sum(const Sampler& sampler, const Cover& rows, int low, int count, float* sums) {
  // The last element of YUYV ends with the byte that is read.
  const size_t elements = static_cast<size_t>((count - 1) * sampler.plane.pixel + sampler.channels);
  const float area = static_cast<float>(rows.end - rows.start);
  const WeightedRows weighted = {sampler.plane.row(rows.low) + static_cast<size_t>(low) * sampler.plane.pixel,
                                 sampler.plane.stride,
                                 static_cast<size_t>(rows.high - rows.low) + 1,
                                 {rows.weight(rows.low) / area, 1 / area, rows.weight(rows.high) / area}};
  sum_rows.of(sampler.set)(weighted, elements, sums);
}

// A pixel that covers more than kSpan elements of a row.
void WidePixel(const Sampler& sampler, const Cover& rows, int i, float* sums, uint8_t* target) {
  float total[4] = {};
  for (int from = sampler.lows[i]; from <= sampler.highs[i]; from += kSpan) {
    const int count = sampler.highs[i] - from < kSpan ? sampler.highs[i] - from + 1 : kSpan;
    Sum(sampler, rows, from, count, sums);
    for (int x = 0; x < count; ++x) {
      const int which = from + x == sampler.lows[i] ? 0 : (from + x == sampler.highs[i] ? 2 : 1);
      for (int c = 0; c < sampler.channels; ++c) {
        total[c] += sampler.shares[which][i] * sums[x * sampler.plane.pixel + c];
      }
    }
  }
  for (int c = 0; c < sampler.channels; ++c) {
    const float value = total[c] + kAreaHalf;
    target[c] = static_cast<uint8_t>(value > 255.0f ? 255.0f : value);
  }
}

void AreaPixels(Sampler* sampler, const Cover& rows, uint8_t* buffer) {
  float sums[kSpan * 4 + 4];  // vectors of four are read
  const size_t step = static_cast<size_t>(sampler->plane.pixel), channels = static_cast<size_t>(sampler->channels);
  for (int i = 0; i < sampler->count;) {
    const int low = sampler->lows[i];
    int end = i;
    while (end < sampler->count && sampler->highs[end] - low < kSpan) ++end;
    uint8_t* const target = buffer + static_cast<size_t>(i) * channels;
    if (end == i) {
      WidePixel(*sampler, rows, i++, sums, target);
      continue;
    }
    const int elements = sampler->highs[end - 1] - low + 1;
    memset(sums + static_cast<size_t>(elements - 1) * step + channels, 0, 4 * sizeof(float));
    Sum(*sampler, rows, low, elements, sums);
    const CoveringColumns columns = {sampler->lows + i,
                                     sampler->highs + i,
                                     {sampler->shares[0] + i, sampler->shares[1] + i, sampler->shares[2] + i}};
    sum_columns.of(sampler->set)(sums, columns, static_cast<size_t>(end - i), step, channels, target);
    i = end;
  }
}

const uint8_t* AreaRow(Sampler* sampler, int y, uint8_t* buffer) {
  AreaPixels(sampler, CoverOf(sampler->y, y), buffer);
  return buffer;
}

void StartArea(Sampler* sampler) {
  for (int i = 0; i < sampler->count; ++i) {
    const Cover columns = CoverOf(sampler->x, sampler->first + i);
    const float area = static_cast<float>(columns.end - columns.start);
    sampler->lows[i] = columns.low;
    sampler->highs[i] = columns.high;
    sampler->shares[0][i] = columns.weight(columns.low) / area;
    sampler->shares[1][i] = 1 / area;
    sampler->shares[2][i] = columns.weight(columns.high) / area;
  }
}

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
