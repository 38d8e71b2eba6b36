#include "native/core/bytes_dotprod.h"
// The header of the instruction set goes first.
#include "native/core/byte_tile_dotprod.h"

namespace lathe {
inline namespace LATHE_VECTORS {

void RunByteTile(const BytePanelJob& job, const ByteTile& tile) {
  RunByteRows<4, 1, true>(job, tile, [](const ByteSource& source, int rows, int64_t tiles) {
    rows == 1 ? SumSingleRows(source, tiles) : SumFourRows(source, tiles);
  });
}

}  // namespace LATHE_VECTORS
}  // namespace lathe
