// Quantised numbers: q stands for (q - zero_point) * scale. Rounding, and how scales and zero points lie over a tensor.
#ifndef LATHE_KERNEL_QUANTISED_QUANTISED_H_
#define LATHE_KERNEL_QUANTISED_QUANTISED_H_

#include "native/kernel/check.h"
#include "native/kernel/math/convert.h"
#include "native/runtime/kernel.h"

namespace lathe {
namespace {

inline bool IsByte(DType dtype) { return dtype == DType::kS8 || dtype == DType::kU8; }

// The nearest whole number, ties to the even one, plus the zero point, limited to the range of T. What is not a number
// stands for nothing: the zero point.
template <typename T>
inline T Quantised(float value, int32_t zero_point) {
  constexpr float kNoFraction = 8388608.0f;  // 2^23: beyond, floats are whole, and adding it leaves no room for halves
  if (value != value) return static_cast<T>(zero_point);
  if (value >= kNoFraction) return Limits<T>::kHigh;
  if (value <= -kNoFraction) return Limits<T>::kLow;
  const float size = __builtin_fabsf(value);
  const float rounded = __builtin_copysignf((size + kNoFraction) - kNoFraction, value);
  const int32_t sum = static_cast<int32_t>(rounded) + zero_point;
  return sum < Limits<T>::kLow ? Limits<T>::kLow : sum > Limits<T>::kHigh ? Limits<T>::kHigh : static_cast<T>(sum);
}

// A byte that is the zero point.
inline int32_t ZeroPointAt(const Tensor& tensor, int64_t index) {
  return tensor.dtype == DType::kS8 ? tensor.As<int8_t>()[index] : tensor.As<uint8_t>()[index];
}

// One number of this type.
inline Code CheckScalar(const PrepareContext& context, int index, DType dtype) {
  const Tensor& tensor = context.input(index);
  if (tensor.dtype != dtype) return context.Fail(Code::kUnsupported, "input %d has another element type", index);
  return CheckRank(context, tensor, 0, "a scale or zero point");
}

// One number of this type, or a row of them.
inline Code CheckScalarOrRow(const PrepareContext& context, int index, DType dtype) {
  const Tensor& tensor = context.input(index);
  if (tensor.dtype != dtype) return context.Fail(Code::kUnsupported, "input %d has another element type", index);
  if (tensor.shape.rank <= 1) return Code::kOk;
  return context.Fail(Code::kBadModel, "input %d has more than one axis", index);
}

// A row has one number for each of `count`.
inline Code CheckRowLength(const PlanContext& context, int index, int64_t count) {
  const Shape& shape = context.input(index).shape;
  if (shape.rank == 0 || shape[0] == count) return Code::kOk;
  return context.Fail(Code::kBadModel, "input %d has another length than what it belongs to", index);
}

// s32 sums of products as quantised numbers: the factor is that of the row or column, or the only one.
struct Requantisation {
  const float* scales;  // of the rows or columns
  int64_t step;         // 0: they have one scale
  float before;         // the scale of the other operand
  float after;          // the scale of the result

  float FactorAt(int64_t index) const { return before * scales[index * step] / after; }
};

// How the scale of a tensor lies over its elements [outer, length, inner]: element (o, a, i) has the parameter
// (o * blocks + a / block) * inner + i where there are blocks, a where there is one per element of the axis, else 0.
enum class AffineKind { kTensor, kAxis, kBlocks };

struct AffineState {
  int64_t axis;
  int64_t block;
};

struct AffinePlan {
  AffineKind kind;
  int64_t length;
  int64_t inner;
  int64_t block;
  int64_t blocks;
};

// Reads the attributes; inputs are x, the scale and perhaps a zero point of the type of what is quantised.
inline Code PrepareAffine(PrepareContext& context, DType quantised) {
  AffineState& state = *static_cast<AffineState*>(context.state());
  LATHE_TRY(CheckArity(context, 2, 3, 1));
  LATHE_TRY(ReadInt(context, "axis", -kMaxExtent, kMaxExtent, &state.axis));
  LATHE_TRY(ReadInt(context, "block", 0, kMaxExtent, &state.block));
  if (context.input_count() == 3 && context.input(2).dtype != quantised) {
    return context.Fail(Code::kBadModel, "its zero point has another element type");
  }
  const Shape& x = context.input(0).shape;
  const Shape& scale = context.input(1).shape;
  if (state.block == 0 && scale.rank == 0) return Code::kOk;
  if (state.axis < 0 || state.axis >= x.rank) return context.Fail(Code::kBadModel, "attribute 'axis' is out of range");
  return CheckRank(context, context.input(1), state.block > 0 ? x.rank : 1, "its scale");
}

inline Code PlanAffine(PlanContext& context) {
  const AffineState& state = *static_cast<const AffineState*>(context.state());
  AffinePlan& plan = *static_cast<AffinePlan*>(context.plan());
  const Shape& x = context.input(0).shape;
  const Shape& scale = context.input(1).shape;
  if (context.input_count() == 3 && context.input(2).shape != scale) {
    return context.Fail(Code::kBadModel, "its scale and zero point differ in shape");
  }
  plan = {AffineKind::kTensor, 1, 1, 1, 1};
  if (state.block > 0 || scale.rank > 0) {
    const int axis = static_cast<int>(state.axis);
    plan.kind = state.block > 0 ? AffineKind::kBlocks : AffineKind::kAxis;
    plan.length = x[axis];
    plan.inner = x.Count(axis + 1, x.rank);
    plan.block = state.block > 0 ? state.block : 1;
    plan.blocks = x[axis] / plan.block + (x[axis] % plan.block != 0 ? 1 : 0);
    Shape expected = {1, {x[axis]}};
    if (state.block > 0) {
      expected = x;
      expected.dims[axis] = plan.blocks;
    }
    if (scale != expected) return context.Fail(Code::kBadModel, "its scale does not fit x");
  }
  return CheckShape(context, 0, x);
}

// Calls `f(from, to, parameter, step)` for stretches of elements [from, to): the first has the parameter of index
// `parameter`, each following one the next by `step`, which is 0 or 1.
template <typename F>
inline void ForAffineStretches(const AffinePlan& plan, int64_t begin, int64_t end, const F& f) {
  if (plan.kind == AffineKind::kTensor) return f(begin, end, int64_t{0}, int64_t{0});
  for (int64_t at = begin; at < end;) {
    const int64_t line = at / plan.inner;
    const int64_t inner = at % plan.inner;
    const int64_t place = line % plan.length;
    int64_t last = at + plan.inner - inner;
    if (plan.kind == AffineKind::kBlocks) {
      last = last < end ? last : end;
      f(at, last, (line / plan.length * plan.blocks + place / plan.block) * plan.inner + inner, int64_t{1});
    } else if (plan.inner == 1) {  // the last axis: one parameter after the other
      last = at + plan.length - place;
      last = last < end ? last : end;
      f(at, last, place, int64_t{1});
    } else {
      last = last < end ? last : end;
      f(at, last, place, int64_t{0});
    }
    at = last;
  }
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_QUANTISED_QUANTISED_H_
