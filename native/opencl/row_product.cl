// The product of few pixels: the filter is read once whatever is done, so the work of an output is shared out among
// LANES items, which add up through local memory. Groups are LANES x BLOCKS_OF_GROUP.
#include "tile.cl"

#define LANES 16
#define BLOCKS_OF_GROUP 4
__kernel void row_product(WORK, IN(0, x), IN(1, filter), OUT(2, y) ADDED_ARGUMENTS, const int blocks, const int width,
                          const int channels, const int out_blocks, const int out_width LAST_ARGUMENTS) {
  __local float4 parts[LANES * BLOCKS_OF_GROUP];
  const int lane = get_local_id(0), own = get_local_id(1) * LANES + lane;
  const int block_of_outputs = get_global_id(1), place = min(block_of_outputs, out_blocks - 1);
  const int col = (int)get_global_id(2) % out_width, line = (int)get_global_id(2) / out_width;
  float4 sum = (float4)(0);
  for (int block = lane; block < blocks; block += LANES) {
    const real4 x0 = LOAD(0, x, block * width + col, line);
    LOAD_FILTERS(a, 4 * block, place)
    sum += TO_FLOAT4(x0.x * af0 + x0.y * af1 + x0.z * af2 + x0.w * af3);
  }
  parts[own] = sum;
  for (int other = LANES / 2; other > 0; other /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < other) parts[own] += parts[own + other];
  }
  if (lane == 0 && block_of_outputs < out_blocks) {
    FINISH(parts[own], block_of_outputs, block_of_outputs * out_width + col, line)
  }
}
