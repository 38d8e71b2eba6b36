// Integer arithmetic that is defined for all operands: sums and products wrap around.
#ifndef LATHE_CORE_INTEGER_H_
#define LATHE_CORE_INTEGER_H_

#include <stdint.h>

namespace lathe {
namespace {

template <typename T>
struct UnsignedOf;
template <>
struct UnsignedOf<int32_t> {
  using Type = uint32_t;
};
template <>
struct UnsignedOf<int64_t> {
  using Type = uint64_t;
};

template <typename T>
struct Wrapping {
  using U = typename UnsignedOf<T>::Type;

  static T Add(T a, T b) { return static_cast<T>(static_cast<U>(a) + static_cast<U>(b)); }
  static T Sub(T a, T b) { return static_cast<T>(static_cast<U>(a) - static_cast<U>(b)); }
  static T Mul(T a, T b) { return static_cast<T>(static_cast<U>(a) * static_cast<U>(b)); }
  // Towards zero, as in C; 0 where b is 0.
  static T Div(T a, T b) {
    if (b == 0) return 0;
    return b == -1 ? Sub(0, a) : a / b;
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_CORE_INTEGER_H_
