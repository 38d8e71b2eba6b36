#include "native/kernel/gemm/byte_tile_armv7.h"

namespace lathe {
namespace {

template <bool plain>
LATHE_INLINE void RunTile(const BytePanelJob& job, const ByteTile& tile) {
  const bool lowest = job.state->lowest;
  RunByteRows<1, 1, false, plain>(job, tile, [&](const ByteSource& source, int, int64_t tiles) {
    const int32_t steps = static_cast<int32_t>(source.steps), pairs = lowest ? 0 : steps / 2;
    for (int64_t i = 0; i < tiles; ++i)
      SumRow(source, source.rows + i, pairs, steps - 2 * pairs, source.buffer + i * kBytePanel);
  });
}

}  // namespace
inline namespace LATHE_ISA {

void RunByteTile(const BytePanelJob& job, const ByteTile& tile) { RunTile<false>(job, tile); }

void SumByteTile(const BytePanelJob& job, const ByteTile& tile) { RunTile<true>(job, tile); }

}  // namespace LATHE_ISA
}  // namespace lathe
