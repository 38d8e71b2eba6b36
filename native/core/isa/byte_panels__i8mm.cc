#include "native/core/bytes_i8mm.h"
// The header of the instruction set goes first.
#include "native/core/byte_tile_i8mm.h"

namespace lathe {
inline namespace LATHE_VECTORS {

void RunByteTile(const BytePanelJob& job, const ByteTile& tile) {
  RunByteRows<6, 2, true>(job, tile, [](const ByteSource& source, int rows, int64_t tiles) {
    rows == 2 ? SumPairs(source, tiles) : SumThreePairs(source, tiles);
  });
}

}  // namespace LATHE_VECTORS
}  // namespace lathe
