// The natural logarithm; NaN below 0.
#ifndef LATHE_OPS_LOG_LOG_OPERATION_H_
#define LATHE_OPS_LOG_LOG_OPERATION_H_

#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct LogOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return LogOf(x);
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_LOG_LOG_OPERATION_H_
