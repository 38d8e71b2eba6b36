// Running sums and products along an axis: attributes `axis`, `exclusive`, `reverse`.
//
// A step is a struct of static templates: `C Initial<C>()` and `C Add(C, C)`. Floats are accumulated in double.
#ifndef LATHE_KERNEL_LOOPS_CUMULATE_H_
#define LATHE_KERNEL_LOOPS_CUMULATE_H_

#include "native/kernel/loops/axis.h"

namespace lathe {
namespace {

template <typename C>
struct AccumulatorOf {
  using Type = C;
};
template <>
struct AccumulatorOf<float> {
  using Type = double;
};

template <typename Step>
struct CumulateOperation {
  bool exclusive;
  bool reverse;

  Code Read(const PrepareContext& context) {
    LATHE_TRY(ReadBool(context, "exclusive", &exclusive));
    return ReadBool(context, "reverse", &reverse);
  }

  template <typename T, typename To>
  void operator()(const Source<T>& from, const Target<To>& to, int64_t size) const {
    using Accumulator = typename AccumulatorOf<decltype(Widen(T()))>::Type;
    Accumulator total = Step::template Initial<Accumulator>();
    for (int64_t i = 0; i < size; ++i) {
      const int64_t at = reverse ? size - 1 - i : i;
      const Accumulator value = static_cast<Accumulator>(from[at]);
      if (exclusive) to.Set(at, total);
      total = Step::Add(total, value);
      if (!exclusive) to.Set(at, total);
    }
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_LOOPS_CUMULATE_H_
