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

template <int pixel>
LATHE_INLINE void Between(const Warped& image, int64_t x, int64_t y, uint8_t* target) {
  constexpr int kOne = 1 << kBits;
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

template <int pixel, bool bilinear>
void WarpRows(const Plane& from, const Plane& to, const float matrix[6], const uint8_t* fill) {
  const Warped image = {from, fill};
  for (int y = 0; y < to.height; ++y) {
    uint8_t* target = to.row(y);
    const double row_x = double{matrix[1]} * y + matrix[2], row_y = double{matrix[4]} * y + matrix[5];
    for (int x = 0; x < to.width; ++x, target += pixel) {
      const int64_t at_x = Fixed(double{matrix[0]} * x + row_x), at_y = Fixed(double{matrix[3]} * x + row_y);
      if (bilinear) {
        Between<pixel>(image, at_x, at_y, target);
      } else {
        const int half = 1 << (kBits - 1);
        memcpy(target, image.at((at_x + half) >> kBits, (at_y + half) >> kBits), pixel);
      }
    }
  }
}

template <int pixel>
void WarpPlane(const Plane& from, const Plane& to, const float matrix[6], uint32_t filter, const uint8_t* fill) {
  if (filter == LATHE_BILINEAR) return WarpRows<pixel, true>(from, to, matrix, fill);
  WarpRows<pixel, false>(from, to, matrix, fill);
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
  if (from.planes[0].pixel == 1) WarpPlane<1>(from.planes[0], to.planes[0], matrix, filter, fill);
  if (from.planes[0].pixel == 3) WarpPlane<3>(from.planes[0], to.planes[0], matrix, filter, fill);
  if (from.planes[0].pixel == 4) WarpPlane<4>(from.planes[0], to.planes[0], matrix, filter, fill);
  return LATHE_OK;
}

}  // namespace vision
}  // namespace lathe
