// Integer arithmetic that is defined for all operands: sums and products wrap around.
#ifndef LATHE_KERNEL_MATH_INTEGER_H_
#define LATHE_KERNEL_MATH_INTEGER_H_

#include <stdint.h>

namespace lathe {
namespace {

// The type that arithmetic is done in: unsigned, and not narrower than int, to which operands would be promoted.
template <typename T>
struct UnsignedOf {
  using Type = uint32_t;
};
template <>
struct UnsignedOf<int64_t> {
  using Type = uint64_t;
};
template <>
struct UnsignedOf<uint64_t> {
  using Type = uint64_t;
};

template <typename T>
constexpr bool kIsSigned = static_cast<T>(-1) < static_cast<T>(1);

template <typename T>
struct Wrapping {
  using U = typename UnsignedOf<T>::Type;

  static T Add(T a, T b) { return static_cast<T>(static_cast<U>(a) + static_cast<U>(b)); }
  static T Sub(T a, T b) { return static_cast<T>(static_cast<U>(a) - static_cast<U>(b)); }
  static T Mul(T a, T b) { return static_cast<T>(static_cast<U>(a) * static_cast<U>(b)); }
  // Towards zero, as in C; 0 where b is 0.
  static T Div(T a, T b) {
    if (b == 0) return 0;
    if constexpr (kIsSigned<T>) {
      if (b == -1) return Sub(0, a);
    }
    return static_cast<T>(a / b);
  }
  // a - Div(a, b) * b, with the sign of a; 0 where b is 0.
  static T Remainder(T a, T b) { return b == 0 ? T(0) : Sub(a, Mul(Div(a, b), b)); }
  // The remainder with the sign of b; 0 where b is 0.
  static T Modulo(T a, T b) {
    const T rest = Remainder(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? Add(rest, b) : rest;
  }
  // To a negative power: cut towards zero, so that only 1 and -1 leave something.
  static T Pow(T base, T exponent) {
    if (exponent < 0) {
      if (base == 1) return 1;
      if constexpr (kIsSigned<T>) {
        if (base == -1) return exponent % 2 == 0 ? T(1) : T(-1);
      }
      return 0;
    }
    T result = 1;
    for (U left = static_cast<U>(exponent); left != 0; left >>= 1) {
      if ((left & 1) != 0) result = Mul(result, base);
      base = Mul(base, base);
    }
    return result;
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_MATH_INTEGER_H_
