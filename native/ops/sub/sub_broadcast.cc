// a - b of bytes. Both sides are brought to steps of the result and rounded to single precision each.
#include "native/kernel/quantised/byte_broadcast.h"

namespace lathe {
namespace {

struct SubBytes {
  static constexpr ByteMixture kMixture = ByteMixture::kDifference;
  static Code Read(const PrepareContext& context, const Stored (&stored)[3], BytePair* pair) {
    for (int i = 0; i < 2; ++i) {
      LATHE_TRY(ReadFactor(context, stored[i].scale, stored[2].scale, &pair->factors[i]));
    }
    return Code::kOk;
  }
  static LATHE_INLINE Sixteen Mix(const BytePair& pair, const Sixteen& a, const Sixteen& b) {
    return a * Sixteen::Fill(pair.factors[0]) - b * Sixteen::Fill(pair.factors[1]);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::ByteBinaryKernel<lathe::SubBytes>();
