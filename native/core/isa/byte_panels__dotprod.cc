#include "native/core/bytes_dotprod.h"
// The header of the instruction set goes first.
#include "native/core/byte_store_arm.h"
#include "native/core/byte_tile_dotprod.h"

namespace lathe {
inline namespace LATHE_VECTORS {

void RunByteTile(const BytePanelJob& job, const ByteTile& tile) {
  const BytePanelShape& shape = job.state->shape;
  ByteSums sums = {};
  sums.taps = shape.taps;
  sums.depth = shape.steps() * kByteDepth;
  sums.offset = tile.group * shape.depth;
  RunByteRows<5, 1, 4>(job, tile, [&](bool whole, int pixel, const ByteSource& source) {
    sums.rows = tile.rows + pixel;
    sums.packed = source.packed;
    sums.starts = source.starts;
    sums.buffer = source.buffer;
    whole ? SumFiveRows(sums) : SumOneRow(sums);
  });
}

}  // namespace LATHE_VECTORS
}  // namespace lathe
