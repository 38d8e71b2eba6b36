// What kernels of quantised numbers ask of tensors; see Quant in kernel.h.
#ifndef LATHE_KERNEL_QUANTISED_QUANTISED_TENSORS_H_
#define LATHE_KERNEL_QUANTISED_QUANTISED_TENSORS_H_

#include "native/kernel/check.h"
#include "native/kernel/quantised/requantise.h"
#include "native/runtime/kernel.h"

namespace lathe {

// One scale and zero point for a whole tensor.
struct Stored {
  float scale;
  int32_t zero;
};

// Those of a tensor of bytes or 16-bit numbers, with a zero point that the element type holds.
Code ReadStored(const PrepareContext& context, const Tensor& tensor, Stored* stored);

// The factor from one to another: what a step of `from` is in steps of `to`. Both are finite, and so is the quotient.
Code ReadFactor(const PrepareContext& context, float from, float to, float* factor);

// What takes bytes to other bytes: the zero point of `x`, the factor to `y`, and how `y` is stored. kUnsupported where
// one of them is no s8.
Code ReadConversion(const PrepareContext& context, const Tensor& x, const Tensor& y, ByteConversion* conversion);

// The clip of a fused activation in steps of the output, as far as its 8 bits reach: [low, high], zero point not added.
// kUnsupported for other activations than none, relu and clip.
Code ReadStoredClip(const PrepareContext& context, const Stored& output, float* low, float* high);

}  // namespace lathe

#endif  // LATHE_KERNEL_QUANTISED_QUANTISED_TENSORS_H_
