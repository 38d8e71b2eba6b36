// x, or alpha * (e^(x / alpha) - 1) where x is negative.
#ifndef LATHE_OPS_CELU_CELU_OPERATION_H_
#define LATHE_OPS_CELU_CELU_OPERATION_H_

#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct CeluOperation {
  float alpha;

  Code Read(const PrepareContext& context) { return context.Float("alpha", &alpha); }
  template <typename C>
  C operator()(C x) const {
    return x < C(0) ? static_cast<C>(alpha) * Expm1Of(x / static_cast<C>(alpha)) : x;
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_CELU_CELU_OPERATION_H_
