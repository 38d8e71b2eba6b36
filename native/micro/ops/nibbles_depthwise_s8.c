/* Depthwise convolutions whose weights have 4 bits: they are unpacked once, in front of the kernel for bytes. */
#include "lathe_micro.h"

static int8_t* unpacked(const int8_t* from, int8_t* to, uint32_t count) {
  for (uint32_t k = 0; k < count; k += 2, ++from) {
    to[k] = (int8_t)((int32_t)(((uint32_t)(uint8_t)*from & 15u) ^ 8u) - 8);
    to[k + 1] = (int8_t)(*from >> 4);
  }
  return to;
}

void lm_depthwise_s4(const int8_t* x, int8_t* y, void* scratch, const lm_conv* layer, uint32_t count,
                     lm_depthwise_kernel* kernel) {
  lm_conv whole = *layer;
  whole.weights = unpacked(layer->weights, scratch, count);
  kernel(x, y, (int8_t*)scratch + (count + 7) / 8 * 8, &whole);
}
