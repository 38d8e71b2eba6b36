#include "native/kernel/gemm/byte_tile_i8mm.h"

namespace lathe {
inline namespace LATHE_ISA {

void RunByteTile(const BytePanelJob& job, const ByteTile& tile) {
  RunByteRows<6, 2, true>(job, tile, [](const ByteSource& source, int rows, int64_t tiles) {
    rows == 2 ? SumPairs(source, tiles) : SumThreePairs(source, tiles);
  });
}

}  // namespace LATHE_ISA
}  // namespace lathe
