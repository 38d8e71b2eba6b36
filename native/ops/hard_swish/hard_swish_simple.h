// x * clip(x / 6 + 1/2, 0, 1). The header of an instruction set goes before this one.
#ifndef LATHE_OPS_HARD_SWISH_HARD_SWISH_SIMPLE_H_
#define LATHE_OPS_HARD_SWISH_HARD_SWISH_SIMPLE_H_

#include "native/core/vector_elementwise.h"
#include "native/core/vector_functions.h"

namespace lathe {
namespace {

struct HardSwishOperation : NoAttributes {
  Vec operator()(Vec x) const { return HardSwish(x); }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_HARD_SWISH_HARD_SWISH_SIMPLE_H_
