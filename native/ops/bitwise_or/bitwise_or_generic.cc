// The bits that at least one has.
#include "native/kernel/loops/typed.h"

namespace lathe {
namespace {

struct BitwiseOrOperation : NoAttributes {
  template <typename C>
  C operator()(C a, C b) const {
    return static_cast<C>(a | b);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::TypedBinaryKernel<lathe::BitwiseOrOperation, lathe::AllIntegers>();
