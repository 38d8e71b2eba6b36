// Rows of Y, U and V as pixels: included by rows_unit.h.
#ifndef LATHE_VISION_ROWS_YUV_H_
#define LATHE_VISION_ROWS_YUV_H_

#include "native/vision/rows.h"
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
inline void LoadYuv(const YuvRow& from, size_t i, Words* y, Words* u, Words* v) {
  if (chroma == Chroma::kYuyv) return LoadYuyv(from.y + i * 2, y, u, v);
  *y = LoadBytes(from.y + i);
  if (chroma == Chroma::kFull) *u = LoadBytes(from.u + i), *v = LoadBytes(from.v + i);
  if (chroma == Chroma::kHalves) *u = LoadHalves(from.u + i / 2), *v = LoadHalves(from.v + i / 2);
  if (chroma == Chroma::kPairs) {
    if (from.swapped) {
      LoadPairs(from.u + i, v, u);
    } else {
      LoadPairs(from.u + i, u, v);
    }
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

template <Chroma chroma, int channels>
void YuvRowPixels(const YuvRow& from, size_t width, const YuvToRgb& how, bool blue_first, uint8_t* to) {
  const Words middle = Fill(128), half = Fill(64), offset = Fill(how.y_offset), gain = Fill(how.y_gain);
  const Words g_u = Fill(how.g_u), g_v = Fill(how.g_v);
  // Blue first: what is called red below is blue.
  const Words r_c = Fill(blue_first ? how.b_u : how.r_v), b_c = Fill(blue_first ? how.r_v : how.b_u);
  const ByteVector opaque = FillVector(255);
  size_t i = 0;
  for (; i + kWords <= width; i += kWords) {
    Words y, u, v;
    LoadYuv<chroma>(from, i, &y, &u, &v);
    u = Sub(u, middle), v = Sub(v, middle);
    y = RightUnsigned<7>(Add(Mul(SubtractToZero(y, offset), gain), half));
    if (channels == 1) {
      StoreBytes(to + i, y);
      continue;
    }
    const ByteVector r = Narrow(Add(y, MulShift8(blue_first ? u : v, r_c)));
    const ByteVector g = Narrow(Sub(y, Right<7>(Add(Mul(u, g_u), Mul(v, g_v)))));
    const ByteVector b = Narrow(Add(y, MulShift8(blue_first ? v : u, b_c)));
    if (channels == 3) Store3(to + i * 3, r, g, b);
    if (channels == 4) Store4(to + i * 4, r, g, b, opaque);
  }
  for (; i < width; ++i) YuvPixel<chroma>(from, i, how, channels, blue_first, to);
}

template <Chroma chroma>
void YuvRowOf(const YuvRow& from, size_t width, const YuvToRgb& how, int channels, bool blue_first, uint8_t* to) {
  if (channels == 1) return YuvRowPixels<chroma, 1>(from, width, how, blue_first, to);
  if (channels == 3) return YuvRowPixels<chroma, 3>(from, width, how, blue_first, to);
  YuvRowPixels<chroma, 4>(from, width, how, blue_first, to);
}

}  // namespace
}  // namespace vision
}  // namespace lathe

#endif  // LATHE_VISION_ROWS_YUV_H_
