// Whether both are true.
#include "native/kernel/loops/typed.h"

namespace lathe {
namespace {

struct LogicalAndOperation : NoAttributes {
  template <typename C>
  C operator()(C a, C b) const {
    return static_cast<C>(a & b);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::TypedBinaryKernel<lathe::LogicalAndOperation, lathe::Types<lathe::Bool>>();
