// x * sigmoid(x). The header of an instruction set goes before this one.
#ifndef LATHE_OPS_SWISH_SWISH_F32_SIMPLE_H_
#define LATHE_OPS_SWISH_SWISH_F32_SIMPLE_H_

#include "native/core/vector_elementwise.h"
#include "native/core/vector_functions.h"

namespace lathe {
namespace {

struct SwishOperation : NoAttributes {
  Vec operator()(Vec x) const { return Swish(x); }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_SWISH_SWISH_F32_SIMPLE_H_
