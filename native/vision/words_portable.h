// Vectors of 8 words of 16 bits, for every machine. Each instruction set has such a header with the same functions;
// kernel/simd has vectors of floats, these are for bytes:
//
//   Words          kWords words; ByteVector: kWords bytes; Widen and Narrow (which saturates) go from one to the other
//   MulShift8      (a * b) >> 8 for a from -128 to 127
//   MulRound15     (a * b + 2^14) >> 15
//   LoadPairs      kWords / 2 pairs of bytes, each of them twice; LoadHalves: kWords / 2 bytes, each twice
//   Load2, 3, 4    kWords pixels of 2, 3, 4 bytes, by channel; Store alike
//   Floats         kFloats floats
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

struct Words {
  int16_t v[8];
};
constexpr size_t kWords = 8;
struct ByteVector {
  uint8_t v[8];
};

template <typename F>
inline Words Each(F f) {
  Words x;
  for (int i = 0; i < 8; ++i) x.v[i] = static_cast<int16_t>(f(i));
  return x;
}
inline Words Widen(ByteVector x) {
  return Each([&](int i) { return x.v[i]; });
}
inline ByteVector Narrow(Words x) {
  ByteVector bytes;
  for (int i = 0; i < 8; ++i) bytes.v[i] = static_cast<uint8_t>(x.v[i] < 0 ? 0 : (x.v[i] > 255 ? 255 : x.v[i]));
  return bytes;
}
inline ByteVector LoadVector(const uint8_t* from) {
  ByteVector x;
  memcpy(x.v, from, 8);
  return x;
}
inline void StoreVector(uint8_t* to, ByteVector x) { memcpy(to, x.v, 8); }
inline ByteVector FillVector(uint8_t value) {
  ByteVector x;
  memset(x.v, value, 8);
  return x;
}
inline ByteVector Reversed(ByteVector x) {
  ByteVector y;
  for (int i = 0; i < 8; ++i) y.v[i] = x.v[7 - i];
  return y;
}
inline Words Fill(int value) {
  return Each([&](int) { return value; });
}
inline Words LoadWords(const int16_t* from) {
  Words x;
  memcpy(x.v, from, 16);
  return x;
}
inline void StoreWords(int16_t* to, Words x) { memcpy(to, x.v, 16); }
inline Words LoadBytes(const uint8_t* from) { return Widen(LoadVector(from)); }
inline void StoreBytes(uint8_t* to, Words x) { StoreVector(to, Narrow(x)); }
inline Words Add(Words a, Words b) {
  return Each([&](int i) { return a.v[i] + b.v[i]; });
}
inline Words Sub(Words a, Words b) {
  return Each([&](int i) { return a.v[i] - b.v[i]; });
}
inline Words SubtractToZero(Words a, Words b) {
  return Each([&](int i) { return a.v[i] > b.v[i] ? a.v[i] - b.v[i] : 0; });
}
inline Words Mul(Words a, Words b) {
  return Each([&](int i) { return a.v[i] * b.v[i]; });
}
inline Words MulShift8(Words small, Words b) {
  return Each([&](int i) { return (small.v[i] * b.v[i]) >> 8; });
}
inline Words MulRound15(Words a, Words b) {
  return Each([&](int i) { return (a.v[i] * b.v[i] + 16384) >> 15; });
}
template <int n>
inline Words Left(Words x) {
  return Each([&](int i) { return static_cast<uint16_t>(x.v[i]) << n; });
}
template <int n>
inline Words Right(Words x) {
  return Each([&](int i) { return x.v[i] >> n; });
}
template <int n>
inline Words RightUnsigned(Words x) {
  return Each([&](int i) { return static_cast<uint16_t>(x.v[i]) >> n; });
}
inline Words PairSums(Words a, Words b) {
  return Each([&](int i) { return i < 4 ? a.v[2 * i] + a.v[2 * i + 1] : b.v[2 * i - 8] + b.v[2 * i - 7]; });
}
inline void LoadPairs(const uint8_t* from, Words* a, Words* b) {
  *a = Each([&](int i) { return from[i & ~1]; });
  *b = Each([&](int i) { return from[i | 1]; });
}
inline Words LoadHalves(const uint8_t* from) {
  return Each([&](int i) { return from[i / 2]; });
}
inline void LoadYuyv(const uint8_t* from, Words* y, Words* u, Words* v) {
  *y = Each([&](int i) { return from[2 * i]; });
  *u = Each([&](int i) { return from[i / 2 * 4 + 1]; });
  *v = Each([&](int i) { return from[i / 2 * 4 + 3]; });
}
template <int channels>
inline void LoadChannels(const uint8_t* from, ByteVector* const (&to)[channels]) {
  for (int c = 0; c < channels; ++c) {
    for (int i = 0; i < 8; ++i) to[c]->v[i] = from[i * channels + c];
  }
}
template <int channels>
inline void StoreChannels(uint8_t* to, const ByteVector* const (&from)[channels]) {
  for (int i = 0; i < 8; ++i) {
    for (int c = 0; c < channels; ++c) to[i * channels + c] = from[c]->v[i];
  }
}
inline void Load2(const uint8_t* from, ByteVector* a, ByteVector* b) { LoadChannels<2>(from, {a, b}); }
inline void Load3(const uint8_t* from, ByteVector* a, ByteVector* b, ByteVector* c) {
  LoadChannels<3>(from, {a, b, c});
}
inline void Load4(const uint8_t* from, ByteVector* a, ByteVector* b, ByteVector* c, ByteVector* d) {
  LoadChannels<4>(from, {a, b, c, d});
}
inline void Store2(uint8_t* to, ByteVector a, ByteVector b) { StoreChannels<2>(to, {&a, &b}); }
inline void Store3(uint8_t* to, ByteVector a, ByteVector b, ByteVector c) { StoreChannels<3>(to, {&a, &b, &c}); }
inline void Store4(uint8_t* to, ByteVector a, ByteVector b, ByteVector c, ByteVector d) {
  StoreChannels<4>(to, {&a, &b, &c, &d});
}

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

}  // namespace
}  // namespace vision
}  // namespace lathe

#endif  // LATHE_VISION_WORDS_PORTABLE_H_
