// The smallest whole number that is not below x.
#ifndef LATHE_OPS_CEIL_CEIL_OPERATION_H_
#define LATHE_OPS_CEIL_CEIL_OPERATION_H_

#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct CeilOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return CeilOf(x);
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_CEIL_CEIL_OPERATION_H_
