// Rows of pixels as elements of tensors: included by rows_unit.h.
#ifndef LATHE_VISION_ROWS_TENSOR_H_
#define LATHE_VISION_ROWS_TENSOR_H_

#include "native/vision/halves.h"
#include "native/vision/rows.h"
#include "native/vision/words.h"

namespace lathe {
namespace vision {
namespace {

// Gains and biases repeat after this many vectors, whatever the number of channels.
constexpr int kPeriod = 3;

struct Pattern {
  float gain[kPeriod * kFloats];
  float bias[kPeriod * kFloats];
};

// `period` vectors hold whole pixels: 3 for three channels, 1 for 1, 2 and 4.
Pattern PatternOf(const Normal& normal, int channels) {
  Pattern made;
  for (int i = 0; i < static_cast<int>(kPeriod * kFloats); ++i) {
    made.gain[i] = normal.gain[i % channels];
    made.bias[i] = normal.bias[i % channels];
  }
  return made;
}

// Calls whole(offset, vector) for all whole vectors of a row, and single(offset, value) for what is left.
template <typename Whole, typename Single>
inline void EachElement(const uint8_t* source, size_t pixels, int channels, const Normal& normal, Whole whole,
                        Single single) {
  const size_t count = pixels * channels;
  const Pattern pattern = PatternOf(normal, channels);
  Floats gain[kPeriod], bias[kPeriod];
  for (int k = 0; k < kPeriod; ++k) {
    gain[k] = LoadFloats(pattern.gain + k * kFloats);
    bias[k] = LoadFloats(pattern.bias + k * kFloats);
  }
  size_t i = 0;
  for (; i + kPeriod * kFloats <= count; i += kPeriod * kFloats) {
    for (int k = 0; k < kPeriod; ++k) {
      const size_t at = i + k * kFloats;
      whole(at, MulAdd(FloatsOf(source + at), gain[k], bias[k]));
    }
  }
  for (; i < count; ++i) {
    const int c = static_cast<int>(i % channels);
    single(i, static_cast<float>(source[i]) * normal.gain[c] + normal.bias[c]);
  }
}

void ToF32(const uint8_t* source, size_t count, int channels, const Normal& normal, float* target) {
  EachElement(
      source, count, channels, normal, [&](size_t i, Floats x) { StoreFloats(target + i, x); },
      [&](size_t i, float x) { target[i] = x; });
}

void ToF16(const uint8_t* source, size_t count, int channels, const Normal& normal, uint16_t* target) {
  EachElement(
      source, count, channels, normal, [&](size_t i, Floats x) { StoreHalves(target + i, x); },
      [&](size_t i, float x) { target[i] = HalfOf(x); });
}

void ToBytes(const uint8_t* source, size_t count, int channels, const Normal& normal, bool is_signed, uint8_t* target) {
  const float low = is_signed ? -128.0f : 0.0f, high = is_signed ? 127.0f : 255.0f;
  EachElement(
      source, count, channels, normal, [&](size_t i, Floats x) { StoreRounded(target + i, x, low, high); },
      [&](size_t i, float x) { target[i] = RoundedByte(x, low, high); });
}

void SplitPlanes(const uint8_t* source, size_t count, int channels, uint8_t* planes, size_t plane) {
  size_t i = 0;
#if defined(LATHE_VISION_BYTES)
  for (; i + kBytes <= count; i += kBytes) {
    ByteVector a, b, c, d;
    if (channels == 3) {
      Load3(source + i * 3, &a, &b, &c);
    } else {
      Load4(source + i * 4, &a, &b, &c, &d);
      StoreVector(planes + 3 * plane + i, d);
    }
    StoreVector(planes + i, a);
    StoreVector(planes + plane + i, b);
    StoreVector(planes + 2 * plane + i, c);
  }
#endif
  for (; i < count; ++i) {
    for (int c = 0; c < channels; ++c) planes[c * plane + i] = source[i * channels + c];
  }
}

}  // namespace
}  // namespace vision
}  // namespace lathe

#endif  // LATHE_VISION_ROWS_TENSOR_H_
