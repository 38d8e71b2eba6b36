// Hyperbolic tangent. The header of an instruction set goes before this one.
#ifndef LATHE_OPS_TANH_TANH_F32_SIMPLE_H_
#define LATHE_OPS_TANH_TANH_F32_SIMPLE_H_

#include "native/core/vector_elementwise.h"
#include "native/core/vector_math.h"

namespace lathe {
namespace {

struct TanhOperation : NoAttributes {
  Vec operator()(Vec x) const { return Tanh(x); }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_TANH_TANH_F32_SIMPLE_H_
