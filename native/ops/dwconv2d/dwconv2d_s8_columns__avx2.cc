#include <immintrin.h>
#include "native/ops/dwconv2d/dwconv2d_bytes_256.h"
#include "native/ops/dwconv2d/dwconv2d_bytes_3x3.h"

// Products of bytes as in byte_panels__avx2.cc: the absolute values of weights are the factor without a sign, and x is
// inverted where a weight is below 0.
namespace lathe {
namespace {

struct Wide : Bytes256 {
  static constexpr int32_t kOffset = 0;
  static Bytes Flip(Bytes x) { return x; }
  static Bytes Dot(Bytes sum, Bytes x, Bytes w) {
    const Bytes below = _mm256_cmpgt_epi8(_mm256_setzero_si256(), w);
    const Bytes pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_xor_si256(x, below));
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
};

struct Blocks {
  static constexpr int32_t kOffset = Wide::kOffset;
  static constexpr bool kInverts = true;
  static constexpr int64_t kBytes = DwBlockBytes(Wide::kChannels);

  static int64_t Count(int64_t channels) { return (channels + Wide::kChannels - 1) / Wide::kChannels; }
  static Block At(int64_t channels, int64_t index) {
    const int64_t channel = index * Wide::kChannels;
    return {channel + Wide::kChannels <= channels ? channel : channels - Wide::kChannels, Wide::kChannels};
  }
  static void Run(const Block&, const DwByteLine& line) { Sweep<Wide>(line); }
};

__attribute__((cold)) Code PrepareColumns(PrepareContext& context) {
  DwBytes3x3State& state = *static_cast<DwBytes3x3State*>(context.state());
  LATHE_TRY(ReadDwBytes3x3(context, &state));
  if (state.node.channels < Wide::kChannels) return context.Fail(Code::kUnsupported, "this kernel has other windows");
  return PackDwBytes3x3<Blocks>(context, &state);
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::DwBytes3x3State),
    .prepare = lathe::PrepareColumns,
    .plan = lathe::PlanDwBytes,
    .run = lathe::RunDwBytes3x3<lathe::Blocks>,
};
