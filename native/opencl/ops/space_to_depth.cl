// A channel counts with two digits: `inner` is the base of the lower one. Which of them is the channel of x, and which
// the place in the block, `by_channel` says.
#define PARAMETERS , const int side, const int inner, const int by_channel
#define SOURCE                                                \
  const int upper = channel / inner, lower = channel % inner; \
  const int place = by_channel ? lower : upper;               \
  row = row * side + place / side;                            \
  column = column * side + place % side;                      \
  channel = by_channel ? upper : lower;
#include "movement.cl"
