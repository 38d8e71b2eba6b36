#include "native/core/bytes_i8mm.h"
// The header of the instruction set goes first.
#include "native/core/byte_store_arm.h"
#include "native/core/byte_tile_i8mm.h"

namespace lathe {
inline namespace LATHE_VECTORS {

void RunByteTile(const BytePanelJob& job, const ByteTile& tile) {
  const BytePanelShape& shape = job.state->shape;
  ByteBlocks blocks = {};
  blocks.taps = shape.taps;
  blocks.eights = (shape.depth + kByteForm.reach() - 1) / kByteForm.reach();
  blocks.offset = tile.group * shape.depth;
  RunByteRows<6, 2, 5>(job, tile, [&](bool whole, int pixel, const ByteSource& source) {
    blocks.rows = tile.rows + pixel;
    blocks.packed = source.packed;
    blocks.starts = source.starts;
    blocks.buffer = source.buffer;
    whole ? SumThreePairs(blocks) : SumPair(blocks);
  });
}

}  // namespace LATHE_VECTORS
}  // namespace lathe
