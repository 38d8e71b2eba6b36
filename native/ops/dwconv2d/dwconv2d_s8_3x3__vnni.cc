#include <immintrin.h>
#include "native/ops/dwconv2d/dwconv2d_bytes_256.h"
#include "native/ops/dwconv2d/dwconv2d_bytes_3x3.h"

namespace lathe {
namespace {

// The channels of a block: 64, or 32 where no more are left.
struct Wide {
  using Bytes = __m512i;
  static constexpr int kChannels = 64;
  static constexpr __mmask16 kAll = 0xffff;  // GCC 12 warns of its own header's functions without a mask
  static Bytes Load(const void* from) { return _mm512_loadu_si512(from); }
  static Bytes LoadPart(const int8_t* from, int64_t) { return Load(from); }
  static Bytes Fill(int8_t x) { return _mm512_set1_epi8(x); }
  static constexpr int32_t kOffset = 128;  // one of the factors has no sign
  static Bytes Flip(Bytes x) { return _mm512_xor_si512(x, Fill(-128)); }
  static Bytes Low8(Bytes a, Bytes b) { return _mm512_unpacklo_epi8(a, b); }
  static Bytes High8(Bytes a, Bytes b) { return _mm512_unpackhi_epi8(a, b); }
  static Bytes Low16(Bytes a, Bytes b) { return _mm512_unpacklo_epi16(a, b); }
  static Bytes High16(Bytes a, Bytes b) { return _mm512_unpackhi_epi16(a, b); }
  static Bytes Dot(Bytes sum, Bytes x, Bytes w) { return _mm512_dpbusd_epi32(sum, x, w); }
  static Bytes Scaled(Bytes sum, const float* factors, float high) {
    const __m512 value = _mm512_mul_ps(_mm512_maskz_cvtepi32_ps(kAll, sum), _mm512_loadu_ps(factors));
    return _mm512_maskz_cvtps_epi32(kAll, _mm512_maskz_min_ps(kAll, value, _mm512_set1_ps(high)));
  }
  static Bytes Pack(const Bytes (&sums)[kQuarters], int zero, int8_t low, int8_t) {
    const Bytes zeros = _mm512_set1_epi16(static_cast<int16_t>(zero));
    const Bytes first = _mm512_adds_epi16(_mm512_packs_epi32(sums[0], sums[1]), zeros);
    const Bytes second = _mm512_adds_epi16(_mm512_packs_epi32(sums[2], sums[3]), zeros);
    return _mm512_max_epi8(_mm512_packs_epi16(first, second), Fill(low));
  }
  static void Store(int8_t* to, Bytes x, int64_t) { _mm512_storeu_si512(to, x); }
};

struct Narrow : Bytes256 {
  static constexpr int32_t kOffset = Wide::kOffset;
  static Bytes Flip(Bytes x) { return _mm256_xor_si256(x, Fill(-128)); }
  static Bytes Dot(Bytes sum, Bytes x, Bytes w) { return _mm256_dpbusd_epi32(sum, x, w); }
};

// Less channels than that.
struct Few : Narrow {
  static Bytes LoadPart(const int8_t* from, int64_t count) {
    return _mm256_maskz_loadu_epi8((uint32_t{1} << count) - 1, from);
  }
  // What is written behind a pixel is that of the next one, which comes later.
  static void Store(int8_t* to, Bytes x, int64_t room) {
    if (room >= kChannels) return Narrow::Store(to, x, room);
    _mm256_mask_storeu_epi8(to, (uint32_t{1} << room) - 1, x);
  }
};

struct Blocks {
  static constexpr int32_t kOffset = Wide::kOffset;
  static constexpr int64_t kBytes = DwBlockBytes(Wide::kChannels);

  static int64_t Count(int64_t channels) {
    if (channels < Wide::kChannels) return channels > Narrow::kChannels ? 2 : 1;
    return (channels + Wide::kChannels - 1) / Wide::kChannels;
  }

  static Block At(int64_t channels, int64_t index) {
    const int64_t channel = index * Wide::kChannels;
    if (channel + Wide::kChannels <= channels) return {channel, Wide::kChannels};
    if (channels < Wide::kChannels) return {index == 0 ? 0 : channels - Narrow::kChannels, Narrow::kChannels};
    const int64_t width = channels - channel > Narrow::kChannels ? Wide::kChannels : Narrow::kChannels;
    return {channels - width, width};
  }

  static void Run(const Block& block, const DwByteLine& line) {
    const auto few = line.channels >= Narrow::kChannels ? Sweep<Narrow> : Sweep<Few>;
    (block.width == Wide::kChannels ? Sweep<Wide> : few)(line);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::DwBytes3x3Kernel<lathe::Blocks>();
