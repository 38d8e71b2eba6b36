#include "native/kernel/gemm/byte_tile_dotprod.h"

namespace lathe {
namespace {

template <bool plain>
LATHE_INLINE void RunTile(const BytePanelJob& job, const ByteTile& tile) {
  RunByteRows<4, 1, true, plain>(job, tile, [](const ByteSource& source, int rows, int64_t tiles) {
    rows == 1 ? SumSingleRows(source, tiles) : SumFourRows(source, tiles);
  });
}

}  // namespace
inline namespace LATHE_ISA {

void RunByteTile(const BytePanelJob& job, const ByteTile& tile) { RunTile<false>(job, tile); }

void SumByteTile(const BytePanelJob& job, const ByteTile& tile) { RunTile<true>(job, tile); }

}  // namespace LATHE_ISA
}  // namespace lathe
