// Rows of Y, U and V as pixels: included by rows_unit.h.
#ifndef LATHE_VISION_ROWS_YUV_H_
#define LATHE_VISION_ROWS_YUV_H_

#include "native/vision/rows.h"
#include "native/vision/rows_pixels.h"
#include "native/vision/words.h"

namespace lathe {
namespace vision {
namespace {

inline uint8_t Saturated(int x) { return static_cast<uint8_t>(x < 0 ? 0 : (x > 255 ? 255 : x)); }

// Y, U and V of the pixel of an index.
template <Chroma chroma>
inline void YuvAt(const YuvRow& from, size_t i, int* y, int* u, int* v) {
  if (chroma == Chroma::kYuyv) {
    const uint8_t* pair = from.y + i / 2 * 4;
    *y = pair[(i & 1) * 2], *u = pair[1], *v = pair[3];
    return;
  }
  *y = from.y[i];
  if (chroma == Chroma::kFull) *u = from.u[i], *v = from.v[i];
  if (chroma == Chroma::kHalves) *u = from.u[i / 2], *v = from.v[i / 2];
  if (chroma == Chroma::kPairs) {
    const uint8_t* pair = from.u + i / 2 * 2;
    *u = pair[from.swapped ? 1 : 0], *v = pair[from.swapped ? 0 : 1];
  }
}

template <Chroma chroma>
inline void YuvPixel(const YuvRow& from, size_t i, const YuvToRgb& how, int channels, bool blue_first, uint8_t* to) {
  int y, u, v;
  YuvAt<chroma>(from, i, &y, &u, &v);
  u -= 128, v -= 128;
  const int level = ((y > how.y_offset ? y - how.y_offset : 0) * how.y_gain + 64) >> 7;
  if (channels == 1) {
    to[i] = Saturated(level);
    return;
  }
  uint8_t* pixel = to + i * channels;
  pixel[blue_first ? 2 : 0] = Saturated(level + ((v * how.r_v) >> 8));
  pixel[1] = Saturated(level - ((u * how.g_u + v * how.g_v) >> 7));
  pixel[blue_first ? 0 : 2] = Saturated(level + ((u * how.b_u) >> 8));
  if (channels == 4) pixel[3] = 255;
}

#if defined(LATHE_VISION_BYTES)

// Whole vectors of pixels; returns how many pixels they are.
template <Chroma chroma, int channels>
size_t YuvVectorsOf(const YuvRow& from, size_t width, const YuvToRgb& how, bool blue_first, uint8_t* to) {
  // Of pairs, whether the second one belongs to the first channel; other U and V are given in the order of channels.
  const bool turned = chroma == Chroma::kPairs ? from.swapped == blue_first : chroma == Chroma::kYuyv && !blue_first;
  const uint8_t *const of_y = from.y, *const pairs = from.u;
  const uint8_t *const firsts = blue_first ? from.u : from.v, *const thirds = blue_first ? from.v : from.u;
  const YuvVectors made(how, blue_first, turned);
  size_t i = 0;
  for (; i + kBytes <= width; i += kBytes) {
    ByteVector y;
    Hues hues, more;
    if (chroma == Chroma::kYuyv) {
      LoadYuyv(of_y + i * 2, turned, &y, &hues);
    } else {
      y = LoadVector(of_y + i);
    }
    const Words levels = made.Levels(y);
    if (channels == 1) {
      StoreVector(to + i, Narrow(levels));
      continue;
    }
    if (chroma == Chroma::kPairs) hues = LoadHues(pairs + i, turned);
    if (chroma == Chroma::kHalves) hues = LoadHues(firsts + i / 2, thirds + i / 2);
    if (chroma == Chroma::kFull) LoadAllHues(firsts + i, thirds + i, &hues, &more);
    const Shifts of = made.Of(hues), others = chroma == Chroma::kFull ? made.Of(more) : of;
    const auto words = [&](int c) {
      return chroma == Chroma::kFull ? Words{of.of[c], others.of[c]} : Doubled(of.of[c]);
    };
    StoreColours<channels>(to + i * channels, NarrowSum(levels, words(0)), NarrowDifference(levels, words(1)),
                           NarrowSum(levels, words(2)), FillVector(255));
  }
  return i;
}

#endif

template <Chroma chroma>
void YuvRowOf(const YuvRow& from, size_t width, const YuvToRgb& how, int channels, bool blue_first, uint8_t* to) {
  size_t i = 0;
#if defined(LATHE_VISION_BYTES)
  // Gray is Y alone, wherever U and V are.
  constexpr Chroma none = chroma == Chroma::kYuyv ? Chroma::kYuyv : Chroma::kFull;
  i = (channels == 1   ? YuvVectorsOf<none, 1>
       : channels == 3 ? YuvVectorsOf<chroma, 3>
                       : YuvVectorsOf<chroma, 4>)(from, width, how, blue_first, to);
#endif
  for (; i < width; ++i) YuvPixel<chroma>(from, i, how, channels, blue_first, to);
}

}  // namespace
}  // namespace vision
}  // namespace lathe

#endif  // LATHE_VISION_ROWS_YUV_H_
