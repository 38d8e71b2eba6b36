// What is written where something stands: the reductions of the scattering operators.
#ifndef LATHE_KERNEL_LOOPS_SCATTER_H_
#define LATHE_KERNEL_LOOPS_SCATTER_H_

#include "native/kernel/loops/copy.h"
#include "native/kernel/loops/element_sizes.h"
#include "native/kernel/loops/indices.h"
#include "native/kernel/loops/typed.h"
#include "native/kernel/math/integer.h"

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
struct Arithmetic {
  static T Add(T a, T b) { return Wrapping<T>::Add(a, b); }
  static T Mul(T a, T b) { return Wrapping<T>::Mul(a, b); }
};
template <>
struct Arithmetic<float> {
  static float Add(float a, float b) { return a + b; }
  static float Mul(float a, float b) { return a * b; }
};
template <>
struct Arithmetic<double> {
  static double Add(double a, double b) { return a + b; }
  static double Mul(double a, double b) { return a * b; }
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

// What an update makes of an element. 16-bit floats are computed with as float.
template <typename T>
inline T Reduced(int reduction, T element, T update) {
  const auto a = Widen(element);
  const auto b = Widen(update);
  using Number = Arithmetic<decltype(Widen(element))>;
  switch (reduction) {
    case kScatterAdd:
      return Convert<T>(Number::Add(a, b));
    case kScatterMul:
      return Convert<T>(Number::Mul(a, b));
    case kScatterMin:
      return Convert<T>(SmallerOf(a, b));
    case kScatterMax:
      return Convert<T>(LargerOf(a, b));
    default:
      return update;
  }
}

// Reduces `count` updates into the elements at `to`.
template <typename T>
inline void ReduceInto(int reduction, T* to, const T* updates, int64_t count) {
  if (reduction == kScatterNone) {
    memcpy(to, updates, static_cast<size_t>(count) * sizeof(T));
    return;
  }
  for (int64_t i = 0; i < count; ++i) to[i] = Reduced(reduction, to[i], updates[i]);
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_LOOPS_SCATTER_H_
