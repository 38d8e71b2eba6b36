#include "native/kernel/gemm/byte_tile_i8mm.h"

namespace lathe {
namespace {

template <bool plain>
LATHE_INLINE void RunTile(const BytePanelJob& job, const ByteTile& tile) {
  RunByteRows<6, 2, true, plain>(job, tile, [](const ByteSource& source, int rows, int64_t tiles) {
    rows == 2 ? SumPairs(source, tiles) : SumThreePairs(source, tiles);
  });
}

}  // namespace
inline namespace LATHE_ISA {

void RunByteTile(const BytePanelJob& job, const ByteTile& tile) { RunTile<false>(job, tile); }

void SumByteTile(const BytePanelJob& job, const ByteTile& tile) { RunTile<true>(job, tile); }

}  // namespace LATHE_ISA
}  // namespace lathe
