// The arccosine; not a number outside -1..1.
#ifndef LATHE_OPS_ACOS_ACOS_OPERATION_H_
#define LATHE_OPS_ACOS_ACOS_OPERATION_H_

#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct AcosOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return AcosOf(x);
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_ACOS_ACOS_OPERATION_H_
