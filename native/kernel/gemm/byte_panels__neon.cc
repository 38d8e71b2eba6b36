#include "native/kernel/gemm/byte_sums_neon.h"
#include "native/kernel/gemm/byte_tile_neon_aarch64.h"

namespace lathe {
namespace {

template <bool plain>
LATHE_INLINE void RunTile(const BytePanelJob& job, const ByteTile& tile) {
  const bool lowest = job.state->lowest;
  RunByteRows<2, 1, true, plain>(job, tile, [&](const ByteSource& source, int rows, int64_t tiles) {
    const int64_t pairs = lowest ? 0 : source.steps / 2;
    if (rows == 2) return SumTwoRows(source, pairs, source.steps - 2 * pairs, tiles);
    SumRow(source, source.rows, pairs, source.buffer);  // the last one
  });
}

}  // namespace
inline namespace LATHE_ISA {

void RunByteTile(const BytePanelJob& job, const ByteTile& tile) { RunTile<false>(job, tile); }

void SumByteTile(const BytePanelJob& job, const ByteTile& tile) { RunTile<true>(job, tile); }

}  // namespace LATHE_ISA
}  // namespace lathe
