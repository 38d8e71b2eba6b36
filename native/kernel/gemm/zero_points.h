// Sums of products of bytes whose zero points are known when a model runs:
//
//   sum of (x - x_zero) * (w - w_zero) = sum of x * w - x_zero * sum of w - w_zero * sum of (x - x_zero)
//
// x is copied, as s8. Sums are written where the results go, and become results there.
#ifndef LATHE_KERNEL_GEMM_ZERO_POINTS_H_
#define LATHE_KERNEL_GEMM_ZERO_POINTS_H_

#include <string.h>

#include "native/kernel/gemm/byte_panels.h"
#include "native/kernel/quantised/quantised.h"

namespace lathe {
namespace {

constexpr int64_t kSumBlock = 16;  // numbers that are computed side by side

// The positions of the inputs.
constexpr int kIntegerX = 0, kIntegerW = 1, kIntegerXZero = 2, kIntegerWZero = 3;

// What a kernel knows when its engine is made.
struct IntegerPanels {
  BytePanelState panels;
  const int32_t* weight_sums;  // of all outputs
};

// Bytes to be multiplied with a constant of s8.
__attribute__((cold)) inline Code CheckIntegerOperands(PrepareContext& context, DType result) {
  const Tensor& x = context.input(kIntegerX);
  const Tensor& w = context.input(kIntegerW);
  if (!IsByte(x.dtype) || w.dtype != DType::kS8 || context.output(0).dtype != result)
    return context.Fail(Code::kUnsupported, "this kernel has other element types");
  if (!w.is_constant()) return context.Fail(Code::kUnsupported, "its weight is not constant");
  LATHE_TRY(CheckScalar(context, kIntegerXZero, x.dtype));
  return CheckScalarOrRow(context, kIntegerWZero, DType::kS8);
}

class ZeroPoints {
 public:
  static int64_t Words(int64_t outputs) { return 2 * (outputs + kSumBlock); }

  // `memory` has so many words.
  ZeroPoints(const RunContext& context, const IntegerPanels& state, int32_t* memory)
      : shape_(state.panels.shape), starts_(memory), zeros_(memory + Words(Outputs()) / 2) {
    const Tensor& w_zero = context.inputs[kIntegerWZero];
    flip_ = context.inputs[kIntegerX].dtype == DType::kU8 ? 0x80 : 0;
    x_zero_ = ZeroPointAt(context.inputs[kIntegerXZero], 0) - flip_;
    memset(memory, 0, static_cast<size_t>(Words(Outputs())) * sizeof *memory);
    for (int64_t j = 0; j < Outputs(); ++j) {
      zeros_[j] = ZeroPointAt(w_zero, j * w_zero.shape.rank);
      starts_[j] =
          static_cast<int32_t>(0 - static_cast<uint32_t>(x_zero_) * static_cast<uint32_t>(state.weight_sums[j]));
      if (zeros_[j] != 0) shifted_ = true;
    }
  }

  int32_t x_zero() const { return x_zero_; }
  bool shifted() const { return shifted_; }  // the sums of rows are needed

  void CopyBytes(const uint8_t* from, int64_t count, int8_t* to) const {
    int64_t i = 0;
    for (; i + kSumBlock <= count; i += kSumBlock) {
      uint8_t some[kSumBlock];
      memcpy(some, from + i, sizeof some);
      for (int64_t j = 0; j < kSumBlock; ++j) some[j] ^= flip_;
      memcpy(to + i, some, sizeof some);
    }
    for (; i < count; ++i) to[i] = static_cast<int8_t>(from[i] ^ flip_);
  }

  // Of copied bytes, the sum of x - x_zero.
  uint32_t SumOf(const int8_t* row, int64_t count) const {
    int32_t sum = 0;
    int64_t i = 0;
    if (count >= kSumBlock) {
      int32_t sums[kSumBlock] = {};
      for (; i + kSumBlock <= count; i += kSumBlock) {
        for (int64_t j = 0; j < kSumBlock; ++j) sums[j] += row[i + j];
      }
      for (int64_t j = 0; j < kSumBlock; ++j) sum += sums[j];
    }
    for (; i < count; ++i) sum += row[i];
    return static_cast<uint32_t>(sum) - static_cast<uint32_t>(count) * static_cast<uint32_t>(x_zero_);
  }

  // The results of a group at `at`, where its sums are. `of_row`: the sum of its row, where zero points are `shifted`.
  // `finish(output, sums, results)` makes a block of them, or half a block, from the output of that number on.
  template <typename Result, typename Finish>
  LATHE_INLINE void FinishGroup(int64_t group, uint32_t of_row, Result* at, const Finish& finish) const {
    constexpr int64_t kHalf = kSumBlock / 2;
    const int64_t first = group * shape_.outputs;
    int64_t j = 0;
    for (; shape_.outputs - j >= kSumBlock; j += kSumBlock) FinishBlock<kSumBlock>(first + j, of_row, at + j, finish);
    for (; j < shape_.outputs; j += kHalf) {
      const int64_t count = shape_.outputs - j;
      if (count >= kHalf) {
        FinishBlock<kHalf>(first + j, of_row, at + j, finish);
        continue;
      }
      Result some[kHalf] = {};
      for (int64_t i = 0; i < count; ++i) some[i] = at[j + i];
      FinishBlock<kHalf>(first + j, of_row, some, finish);
      for (int64_t i = 0; i < count; ++i) at[j + i] = some[i];
    }
  }

 private:
  int64_t Outputs() const { return shape_.groups * shape_.outputs; }

  template <int64_t size, typename Result, typename Finish>
  LATHE_INLINE void FinishBlock(int64_t output, uint32_t of_row, Result* at, const Finish& finish) const {
    uint32_t sums[size];
    memcpy(sums, at, sizeof sums);
    const int32_t *starts = starts_ + output, *zeros = zeros_ + output;
    for (int64_t j = 0; j < size; ++j) sums[j] += static_cast<uint32_t>(starts[j]);
    if (shifted_) {
      for (int64_t j = 0; j < size; ++j) sums[j] -= of_row * static_cast<uint32_t>(zeros[j]);
    }
    Result results[size];
    finish(output, sums, results);
    memcpy(at, results, sizeof results);
  }

  const BytePanelShape& shape_;
  int32_t* starts_;  // what is added to the sums of outputs
  int32_t* zeros_;
  int32_t x_zero_;
  uint8_t flip_;
  bool shifted_ = false;
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_GEMM_ZERO_POINTS_H_
