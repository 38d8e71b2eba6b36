// All bits turned over.
#include "native/kernel/loops/typed.h"

namespace lathe {
namespace {

struct BitwiseNotOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return static_cast<C>(~x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::TypedUnaryKernel<lathe::BitwiseNotOperation, lathe::AllIntegers>();
