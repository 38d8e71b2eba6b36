// Negation; integers wrap around.
#ifndef LATHE_OPS_NEG_NEG_OPERATION_H_
#define LATHE_OPS_NEG_NEG_OPERATION_H_

#include "native/core/integer.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct NegOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    if constexpr (kIsFloat<C>) {
      return -x;
    } else {
      return Wrapping<C>::Sub(0, x);
    }
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_NEG_NEG_OPERATION_H_
