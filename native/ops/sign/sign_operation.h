// -1, 0 or 1; NaN stays NaN.
#ifndef LATHE_OPS_SIGN_SIGN_OPERATION_H_
#define LATHE_OPS_SIGN_SIGN_OPERATION_H_

#include "native/core/functions.h"
#include "native/core/integer.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct SignOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    if (x > C(0)) return C(1);
    if constexpr (!kIsSigned<C>) return C(0);
    return x < C(0) ? static_cast<C>(-1) : x;
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_SIGN_SIGN_OPERATION_H_
