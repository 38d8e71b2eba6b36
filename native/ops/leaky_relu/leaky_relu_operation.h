// x, or alpha * x where x is negative.
#ifndef LATHE_OPS_LEAKY_RELU_LEAKY_RELU_OPERATION_H_
#define LATHE_OPS_LEAKY_RELU_LEAKY_RELU_OPERATION_H_

#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct LeakyReluOperation {
  float alpha;

  Code Read(const PrepareContext& context) { return context.Float("alpha", &alpha); }
  template <typename C>
  C operator()(C x) const {
    return LeakyReluOf(x, alpha);
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_LEAKY_RELU_LEAKY_RELU_OPERATION_H_
