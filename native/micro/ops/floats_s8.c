/* Between floats and bytes. */
#include "fixed_point.h"

void lm_quantize_s8(const float* x, int8_t* y, size_t count, float scale, int zero) {
  for (; count != 0; --count, ++x, ++y) {
    const float steps = *x / scale, rounded = steps + (steps < 0.0f ? -0.5f : 0.5f);
    const float low = (float)(-128 - zero), high = (float)(127 - zero);
    *y = (int8_t)((rounded <= low ? -128 - zero : rounded >= high ? 127 - zero : (int32_t)rounded) + zero);
  }
}

void lm_dequantize_s8(const int8_t* x, float* y, size_t count, float scale, int zero) {
  for (; count != 0; --count) *y++ = (float)(*x++ - zero) * scale;
}
