// x, or alpha * (e^x - 1) where x is negative.
#ifndef LATHE_OPS_ELU_ELU_OPERATION_H_
#define LATHE_OPS_ELU_ELU_OPERATION_H_

#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct EluOperation {
  float alpha;

  Code Read(const PrepareContext& context) { return context.Float("alpha", &alpha); }
  template <typename C>
  C operator()(C x) const {
    return EluOf(x, alpha);
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_ELU_ELU_OPERATION_H_
