// Affine warps of whole pixels.
#include <math.h>

#include "native/vision/image.h"

namespace lathe {
namespace vision {
namespace {

constexpr int kBits = 10;  // of the fraction of a position

struct Warped {
  const Plane& from;
  const uint8_t* fill;

  LATHE_INLINE const uint8_t* at(int64_t x, int64_t y) const {
    const bool inside = x >= 0 && y >= 0 && x < from.width && y < from.height;
    return inside ? from.row(static_cast<int>(y)) + x * from.pixel : fill;
  }
};

void Between(const Warped& image, int64_t x, int64_t y, uint8_t* target) {
  constexpr int kOne = 1 << kBits;
  const int pixel = image.from.pixel;
  const int64_t left = x >> kBits, top = y >> kBits;
  const int wx = static_cast<int>(x & (kOne - 1)), wy = static_cast<int>(y & (kOne - 1));
  const uint8_t *a, *b, *c, *d;
  if (left >= 0 && top >= 0 && left + 1 < image.from.width && top + 1 < image.from.height) {
    a = image.from.row(static_cast<int>(top)) + left * pixel;
    b = a + pixel;
    c = a + image.from.stride;
    d = c + pixel;
  } else {
    a = image.at(left, top);
    b = image.at(left + 1, top);
    c = image.at(left, top + 1);
    d = image.at(left + 1, top + 1);
  }
  const int of_a = (kOne - wx) * (kOne - wy), of_b = wx * (kOne - wy), of_c = (kOne - wx) * wy, of_d = wx * wy;
  for (int i = 0; i < pixel; ++i) {
    const int sum = a[i] * of_a + b[i] * of_b + c[i] * of_c + d[i] * of_d;
    target[i] = static_cast<uint8_t>((sum + (1 << (2 * kBits - 1))) >> (2 * kBits));
  }
}

// A position in 1/1024 of a pixel, rounded; what is far outside stays there.
LATHE_INLINE int64_t Fixed(double position) {
  const double limit = 1e6;
  const double within = (position < -limit ? -limit : (position > limit ? limit : position)) * (1 << kBits) + 0.5;
  const int64_t whole = static_cast<int64_t>(within);
  return whole - (static_cast<double>(whole) > within ? 1 : 0);
}

// Positions along a row, with 32 bits of fraction.
struct Line {
  int64_t start;
  int64_t step;

  LATHE_INLINE int64_t at(int i) const { return (start + step * i + (int64_t{1} << (31 - kBits))) >> (32 - kBits); }
};

struct Range {
  int begin;
  int end;
};

// The integer below a / b.
int64_t Floor(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

// The part of a range whose positions have a pixel of `size` on both sides.
Range Inside(const Line& line, int size, Range range) {
  const int64_t half = int64_t{1} << (31 - kBits);
  const int64_t low = -half - line.start, high = (int64_t{size - 1} << 32) - half - 1 - line.start;
  if (line.step == 0) return low <= 0 && 0 <= high ? range : Range{0, 0};
  const int64_t first = -Floor(line.step > 0 ? -low : -high, line.step);
  const int64_t last = Floor(line.step > 0 ? high : low, line.step);
  if (first > range.begin) range.begin = first < range.end ? static_cast<int>(first) : range.end;
  if (last < range.end - 1) range.end = last < range.begin ? range.begin : static_cast<int>(last) + 1;
  return range;
}

// Pixels of a row between four pixels of the image each: across in two rows of it, then between those.
void WarpInside(const Plane& from, const Line& x, const Line& y, Range range, int set, uint8_t* target) {
  const int pixel = from.pixel;
  int32_t offsets[kTile];
  int16_t across[kTile], down[kTile * 4 + 4], rows[2][kTile * 4];
  const int64_t last_read =
      static_cast<int64_t>(from.row_bytes()) - 8 + int64_t{from.height - 2} * static_cast<int64_t>(from.stride);
  for (int first = range.begin; first < range.end; first += kTile) {
    const int count = range.end - first < kTile ? range.end - first : kTile;
    Columns columns = {offsets, across, static_cast<size_t>(count), static_cast<size_t>(count)};
    for (int i = 0; i < count; ++i) {
      const int64_t at_x = x.at(first + i), at_y = y.at(first + i);
      const int64_t offset = (at_y >> kBits) * static_cast<int64_t>(from.stride) + (at_x >> kBits) * pixel;
      offsets[i] = static_cast<int32_t>(offset);
      across[i] = static_cast<int16_t>((at_x & ((1 << kBits) - 1)) << (15 - kBits));
      // Four times: what is beyond the pixel, the next ones write again.
      const uint64_t weights = static_cast<uint64_t>((at_y & ((1 << kBits) - 1)) << (15 - kBits)) * 0x1000100010001u;
      memcpy(down + i * pixel, &weights, sizeof(weights));
      if (offset > last_read && columns.safe > static_cast<size_t>(i)) columns.safe = static_cast<size_t>(i);
    }
    for (int k = 0; k < 2; ++k) resize_across.of(set)(from.row(k), columns, pixel, static_cast<size_t>(pixel), rows[k]);
    blend_rows.of(set)(rows[0], rows[1], down, static_cast<size_t>(count) * pixel, target + first * pixel);
  }
}

void WarpPlane(const Plane& from, const Plane& to, const float matrix[6], bool bilinear, const uint8_t* fill) {
  const Warped image = {from, fill};
  const int pixel = from.pixel;
  const int set = BestRows();
  // What 64 bits hold of positions, and 32 of offsets.
  const bool fits = fabsf(matrix[0]) < 1024 && fabsf(matrix[3]) < 1024 &&
                    static_cast<uint64_t>(from.height) * from.stride < (uint64_t{1} << 31);
  for (int y = 0; y < to.height; ++y) {
    uint8_t* const target = to.row(y);
    const double row_x = double{matrix[1]} * y + matrix[2], row_y = double{matrix[4]} * y + matrix[5];
    Range inside = {0, 0};
    if (bilinear && fits && fabs(row_x) < 1e6 && fabs(row_y) < 1e6) {
      const auto fixed = [](double position) { return static_cast<int64_t>(position * 4294967296.0); };
      const Line line_x = {fixed(row_x), fixed(matrix[0])}, line_y = {fixed(row_y), fixed(matrix[3])};
      inside = Inside(line_y, from.height, Inside(line_x, from.width, {0, to.width}));
      WarpInside(from, line_x, line_y, inside, set, target);
    }
    for (int x = 0; x < to.width; ++x) {
      if (x == inside.begin && inside.end > inside.begin) x = inside.end;
      if (x == to.width) break;
      const int64_t at_x = Fixed(double{matrix[0]} * x + row_x), at_y = Fixed(double{matrix[3]} * x + row_y);
      if (bilinear) {
        Between(image, at_x, at_y, target + x * pixel);
      } else {
        const int half = 1 << (kBits - 1);
        const uint8_t* const nearest = image.at((at_x + half) >> kBits, (at_y + half) >> kBits);
        for (int c = 0; c < pixel; ++c) target[x * pixel + c] = nearest[c];
      }
    }
  }
}

}  // namespace

lathe_code Warp(const lathe_image* source, const lathe_image* target, const float matrix[6], uint32_t filter,
                const uint8_t fill[4], lathe_error* error) {
  const ErrorSink errors = Begin(error);
  Image from, to;
  Code code = CheckImage(source, "warp: source", &from, errors);
  if (code == Code::kOk) code = CheckImage(target, "warp: target", &to, errors);
  if (code == Code::kOk) code = CheckSameFormat(from, to, errors);
  if (code == Code::kOk && from.is_yuv())
    code = errors.Fail(Code::kUnsupported, "warp: whole pixels only: convert the image to RGB before");
  if (code == Code::kOk) code = CheckApart(from, to, errors);
  if (code == Code::kOk && (matrix == nullptr || fill == nullptr))
    code = errors.Fail(Code::kInvalidArgument, "warp: matrix or fill is NULL");
  if (code == Code::kOk && filter != LATHE_NEAREST && filter != LATHE_BILINEAR)
    code = errors.Fail(Code::kInvalidArgument, "warp: %u is no filter of this function", filter);
  for (int i = 0; code == Code::kOk && i < 6; ++i) {
    if (!(fabsf(matrix[i]) < 1e9f))
      code = errors.Fail(Code::kInvalidArgument, "warp: element %d of the matrix is not finite, or too large", i);
  }
  if (code != Code::kOk) return Public(code);
  WarpPlane(from.planes[0], to.planes[0], matrix, filter == LATHE_BILINEAR, fill);
  return LATHE_OK;
}

}  // namespace vision
}  // namespace lathe
