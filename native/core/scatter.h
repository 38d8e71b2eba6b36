// What is written where something stands: the reductions of the scattering operators.
#ifndef LATHE_CORE_SCATTER_H_
#define LATHE_CORE_SCATTER_H_

#include "native/core/copy.h"
#include "native/core/elementwise.h"
#include "native/core/indices.h"
#include "native/core/integer.h"
#include "native/core/sizes.h"

namespace lathe {
namespace {

enum ScatterReduction { kScatterNone, kScatterAdd, kScatterMul, kScatterMin, kScatterMax };

inline Code ReadReduction(const PrepareContext& context, int* reduction) {
  return ReadChoice(context, "reduction", {"none", "add", "mul", "min", "max"}, reduction);
}

// x, indices and updates; x, updates and output have one type.
inline Code CheckScatterTypes(const PrepareContext& context) {
  LATHE_TRY(CheckArity(context, 3, 3, 1));
  const DType dtype = context.input(0).dtype;
  if (SizeOf(dtype) == 0 || context.input(2).dtype != dtype || context.output(0).dtype != dtype) {
    return context.Fail(Code::kBadModel, "input, updates and output differ in type");
  }
  return CheckIndices(context, 1);
}

template <typename T>
inline Code CheckElementType(const PrepareContext& context) {
  if (context.input(0).dtype == DTypeOf<T>::value) return Code::kOk;
  return context.Fail(Code::kUnsupported, "this kernel has other element types");
}

template <typename T>
struct Arithmetic {
  static T Add(T a, T b) { return Wrapping<T>::Add(a, b); }
  static T Mul(T a, T b) { return Wrapping<T>::Mul(a, b); }
};
template <>
struct Arithmetic<float> {
  static float Add(float a, float b) { return a + b; }
  static float Mul(float a, float b) { return a * b; }
};

// The smaller and the larger of two; NaN where one of them is not a number.
template <typename T>
inline T SmallerOf(T a, T b) {
  return a < b || a != a ? a : b;
}
template <typename T>
inline T LargerOf(T a, T b) {
  return a > b || a != a ? a : b;
}

// Reduces `count` updates into the elements at `to`.
template <typename T>
inline void ReduceInto(int reduction, T* to, const T* updates, int64_t count) {
  switch (reduction) {
    case kScatterAdd:
      for (int64_t i = 0; i < count; ++i) to[i] = Arithmetic<T>::Add(to[i], updates[i]);
      return;
    case kScatterMul:
      for (int64_t i = 0; i < count; ++i) to[i] = Arithmetic<T>::Mul(to[i], updates[i]);
      return;
    case kScatterMin:
      for (int64_t i = 0; i < count; ++i) to[i] = SmallerOf(to[i], updates[i]);
      return;
    case kScatterMax:
      for (int64_t i = 0; i < count; ++i) to[i] = LargerOf(to[i], updates[i]);
      return;
    default:
      for (int64_t i = 0; i < count; ++i) to[i] = updates[i];
  }
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_CORE_SCATTER_H_
