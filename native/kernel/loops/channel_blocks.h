// Between channels and blocks of a picture: attributes and the walk that depth_to_space and space_to_depth share.
#ifndef LATHE_KERNEL_LOOPS_CHANNEL_BLOCKS_H_
#define LATHE_KERNEL_LOOPS_CHANNEL_BLOCKS_H_

#include "native/kernel/check.h"
#include "native/kernel/loops/strided_copy.h"

namespace lathe {
namespace {

struct BlockState {
  int64_t block;
  int32_t mode;  // 0: DCR, the place in the block counts before the channel; 1: CRD
};

inline Code PrepareBlocks(PrepareContext& context) {
  BlockState& state = *static_cast<BlockState*>(context.state());
  LATHE_TRY(CheckArity(context, 1, 1, 1));
  LATHE_TRY(CheckStridedCopy(context));
  LATHE_TRY(CheckRank(context, context.input(0), 4, "its input"));
  LATHE_TRY(ReadInt(context, "block", 1, 1 << 15, &state.block));
  int mode = 0;
  LATHE_TRY(ReadChoice(context, "mode", {"DCR", "CRD"}, &mode));
  state.mode = mode;
  return Code::kOk;
}

// The strides of the axes of a tensor of channels, split into place in the block (row, column) and channel.
struct ChannelStrides {
  int64_t row;
  int64_t column;
  int64_t channel;
};

inline ChannelStrides StridesOf(const BlockState& state, int64_t channels) {
  const int64_t block = state.block;
  if (state.mode == 0) return {block * channels, channels, 1};
  return {block, 1, block * block};
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_LOOPS_CHANNEL_BLOCKS_H_
