// The arcsine; not a number outside -1..1.
#ifndef LATHE_OPS_ASIN_ASIN_OPERATION_H_
#define LATHE_OPS_ASIN_ASIN_OPERATION_H_

#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct AsinOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return AsinOf(x);
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_ASIN_ASIN_OPERATION_H_
