// a * b of bytes. Products are exact before they are brought to steps of the result.
#include "native/kernel/quantised/byte_broadcast.h"

namespace lathe {
namespace {

struct MulBytes {
  static constexpr ByteMixture kMixture = ByteMixture::kProduct;
  static Code Read(const PrepareContext& context, const Stored (&stored)[3], BytePair* pair) {
    return ReadFactor(context, stored[0].scale * stored[1].scale, stored[2].scale, &pair->factors[0]);
  }
  static LATHE_INLINE Sixteen Mix(const BytePair& pair, const Sixteen& a, const Sixteen& b) {
    return a * b * Sixteen::Fill(pair.factors[0]);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::ByteBinaryKernel<lathe::MulBytes>();
