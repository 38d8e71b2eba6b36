// Constants of f32 that are stored as whole numbers of a few bits and scales: what `quantize_large_weights` writes
// (docs/reference/format.md). Only libraries with such a model hold the code, through Registry::expand_scaled.
#ifndef LATHE_RUNTIME_BLOCK_WEIGHTS_H_
#define LATHE_RUNTIME_BLOCK_WEIGHTS_H_

#include "native/runtime/model.h"
#include "native/runtime/status.h"

namespace lathe {

// Writes the numbers of a constant that has `scaled`, or only finds them where `found` is not null. Checks everything
// about it but that its own bytes lie inside of `data`, which the reader of the model has done.
Code ExpandScaled(const Value& value, lathe_bytes data, const ErrorSink& errors, Span<float> expanded,
                  StoredNumbers* found);

}  // namespace lathe

#endif  // LATHE_RUNTIME_BLOCK_WEIGHTS_H_
