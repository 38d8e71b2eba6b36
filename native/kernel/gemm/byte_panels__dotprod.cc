#include "native/kernel/gemm/byte_tile_dotprod.h"

namespace lathe {
inline namespace LATHE_ISA {

void RunByteTile(const BytePanelJob& job, const ByteTile& tile) {
  RunByteRows<4, 1, true>(job, tile, [](const ByteSource& source, int rows, int64_t tiles) {
    rows == 1 ? SumSingleRows(source, tiles) : SumFourRows(source, tiles);
  });
}

}  // namespace LATHE_ISA
}  // namespace lathe
