// Channel c of element (y, x) of a block is channel c * each + y * down + x * across.
#define PARAMETERS , const int side, const int each, const int down, const int across
#define SOURCE                                                           \
  channel = channel * each + row % side * down + column % side * across; \
  row /= side;                                                           \
  column /= side;
#include "movement.cl"
