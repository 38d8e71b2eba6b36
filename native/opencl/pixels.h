// Constants on their way to the device: floats become halves, and the order of the host that of pixels.
#ifndef LATHE_OPENCL_PIXELS_H_
#define LATHE_OPENCL_PIXELS_H_

#include <string.h>

#include "native/opencl/tensors.h"
#include "native/runtime/half.h"

namespace lathe {
namespace opencl {
namespace {

// To the nearest half, ties to even.
inline uint16_t HalfFromFloat(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  const uint32_t sign = bits >> 16 & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return static_cast<uint16_t>(sign | 0x7e00);   // not a number
  if (magnitude >= 0x477ff000) return static_cast<uint16_t>(sign | 0x7c00);  // rounds to infinity
  if (magnitude < 0x38800000) {                                              // subnormal: a multiple of 2^-24
    const float scaled = FloatFromBits(magnitude) * 16777216.0f;
    uint32_t whole = static_cast<uint32_t>(scaled);
    const float left = scaled - static_cast<float>(whole);
    whole += left > 0.5f || (left == 0.5f && (whole & 1) != 0) ? 1 : 0;
    return static_cast<uint16_t>(sign | whole);
  }
  const uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1) - 0x38000000;
  return static_cast<uint16_t>(sign | rounded >> 13);
}

// Any float tensor in the usual order of pixels.
inline void FillView(const float* source, const View& view, float* pixels) {
  const int64_t rows = int64_t{view.n} * view.h;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t x = 0; x < view.w; ++x) {
      for (int64_t c = 0; c < view.c; ++c) pixels[((row * view.blocks + c / 4) * view.w + x) * 4 + c % 4] = *source++;
    }
  }
}

inline int64_t NumberAt(const Tensor& tensor, int64_t index) {
  return tensor.dtype == DType::kS64 ? tensor.As<int64_t>()[index] : tensor.As<int32_t>()[index];
}

}  // namespace
}  // namespace opencl
}  // namespace lathe

#endif  // LATHE_OPENCL_PIXELS_H_
