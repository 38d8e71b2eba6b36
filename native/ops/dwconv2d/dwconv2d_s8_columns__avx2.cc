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

// Sixteen channels of two pixels.
struct Pair : Wide {
  static constexpr int kPixels = 2, kEach = kChannels / kPixels;
  static Bytes Two(const int8_t* first, const int8_t* second) {
    return _mm256_loadu2_m128i(reinterpret_cast<const __m128i*>(second), reinterpret_cast<const __m128i*>(first));
  }
  static void StoreTwo(int8_t* first, int8_t* second, Bytes x) {
    _mm256_storeu2_m128i(reinterpret_cast<__m128i*>(second), reinterpret_cast<__m128i*>(first), x);
  }
};

// Sixteen channels or less that are left, and those of a tensor with less than 32, go by two pixels at a time.
struct Blocks {
  static constexpr int32_t kOffset = Wide::kOffset;
  static constexpr bool kInverts = true;
  static constexpr int64_t kBytes = DwBlockBytes(Wide::kChannels);

  static int64_t Count(int64_t channels) {
    const int64_t each = channels < Wide::kChannels ? Pair::kEach : Wide::kChannels;
    return (channels + each - 1) / each;
  }
  static Block At(int64_t channels, int64_t index) {
    const int64_t each = channels < Wide::kChannels ? Pair::kEach : Wide::kChannels;
    const int64_t channel = index * each, rest = channels - channel;
    const bool pair = rest <= Pair::kEach || each == Pair::kEach;
    const int64_t taken = pair ? Pair::kEach : Wide::kChannels;
    return {rest < taken ? channels - taken : channel, Wide::kChannels, pair};
  }
  // The halves of a line overlap where it has an odd number of outputs.
  static void Run(const Block& block, DwByteLine line) {
    if (!block.pair) return Sweep<Wide>(line);
    const int64_t half = (line.outputs + 1) / 2;
    line.apart = line.outputs - half;
    line.outputs = half;
    line.outside += block.channel;
    Sweep<Pair>(line);
  }
};

__attribute__((cold)) Code PrepareColumns(PrepareContext& context) {
  DwBytes3x3State& state = *static_cast<DwBytes3x3State*>(context.state());
  LATHE_TRY(ReadDwBytes3x3(context, &state));
  if (state.node.channels < Pair::kEach) return context.Fail(Code::kUnsupported, "this kernel has other windows");
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
