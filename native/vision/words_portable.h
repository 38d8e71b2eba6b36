// Floats for every machine. Its rows of bytes go byte by byte: there is no ByteVector here.
#ifndef LATHE_VISION_WORDS_PORTABLE_H_
#define LATHE_VISION_WORDS_PORTABLE_H_

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "native/vision/halves.h"

namespace lathe {
namespace vision {
namespace {

struct Floats {
  float v[4];
};
constexpr size_t kFloats = 4;
template <typename F>
inline Floats EachFloat(F f) {
  Floats x;
  for (int i = 0; i < 4; ++i) x.v[i] = f(i);
  return x;
}
inline Floats LoadFloats(const float* from) {
  return EachFloat([&](int i) { return from[i]; });
}
inline void StoreFloats(float* to, Floats x) { memcpy(to, x.v, 16); }
inline Floats FillFloats(float x) {
  return EachFloat([&](int) { return x; });
}
inline Floats FloatsOf(const uint8_t* from) {
  return EachFloat([&](int i) { return static_cast<float>(from[i]); });
}
inline Floats MulAdd(Floats a, Floats b, Floats c) {
  return EachFloat([&](int i) { return a.v[i] * b.v[i] + c.v[i]; });
}
inline void StoreHalves(uint16_t* to, Floats x) {
  for (int i = 0; i < 4; ++i) to[i] = HalfOf(x.v[i]);
}
inline void StoreRounded(uint8_t* to, Floats x, float low, float high) {
  for (int i = 0; i < 4; ++i) to[i] = RoundedByte(x.v[i], low, high);
}

using Quad = Floats;  // four floats
inline Quad LoadQuad(const float* from) { return LoadFloats(from); }
inline Quad MulQuad(Quad x, float by) {
  return EachFloat([&](int i) { return x.v[i] * by; });
}
inline Quad MulAddQuad(Quad x, float by, Quad sum) { return MulAdd(x, FillFloats(by), sum); }
// Without the fraction, after `half` was added; from 0 on, 255 at most.
inline uint32_t BytesOf(Quad x, float half) {
  uint32_t bytes = 0;
  for (int i = 3; i >= 0; --i) {
    const float value = x.v[i] + half;
    bytes = bytes << 8 | static_cast<uint32_t>(value > 255.0f ? 255.0f : value);
  }
  return bytes;
}

}  // namespace
}  // namespace vision
}  // namespace lathe

#endif  // LATHE_VISION_WORDS_PORTABLE_H_
