// Constants of f32 that are stored as whole numbers of a few bits and scales: what `quantize_large_weights` writes
// (docs/reference/format.md). Only libraries with such a model hold the code, through Registry::expand_scaled.
#ifndef LATHE_RUNTIME_BLOCK_WEIGHTS_H_
#define LATHE_RUNTIME_BLOCK_WEIGHTS_H_

#include "native/runtime/model.h"
#include "native/runtime/status.h"

namespace lathe {

// Finds the numbers and the scales of a constant of `count` elements that has `scaled`, and writes what they stand for
// unless `expanded` is null. Checks everything about it but that its own bytes lie inside of `data`, which the reader
// of the model has done.
Code ExpandScaled(const Value& value, lathe_bytes data, const ErrorSink& errors, uint64_t count, StoredNumbers* found,
                  float* expanded);

}  // namespace lathe

#endif  // LATHE_RUNTIME_BLOCK_WEIGHTS_H_
