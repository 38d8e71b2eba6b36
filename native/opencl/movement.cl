// Elements of y that are elements of x. Before this text stand
//   PARAMETERS   what else the kernel is given
//   SOURCE       makes of row, column and channel of an element of y those of the element of x that it is
//   FILL         if there is one: what an element of y is where SOURCE left a channel below 0
// `together`: where the four channels of a pixel of y are in x. 0: anywhere; 1: they are one pixel; 2: behind each other.
#include "run.cl"
#ifdef FILL
#define PIXEL (channel < 0 ? (real4)(FILL) : LOAD(0, x, (channel >> 2) * x_columns + column, row))
#else
#define PIXEL LOAD(0, x, (channel >> 2) * x_columns + column, row)
#endif
#define LANE(lane, element)                          \
  if (lane < left) {                                 \
    int row = Y, column = X, channel = first + lane; \
    SOURCE                                           \
    element = lane_of(PIXEL, channel & 3);           \
  }

__kernel void move(WORK, IN(0, x), OUT(1, y), const int x_columns, const int channels, const int together PARAMETERS) {
  BEGIN
  const int first = Z * 4, left = channels - first;
  real4 value = 0;
  if (together) {
    int row = Y, column = X, channel = first;
    SOURCE
    value = PIXEL;
    const int lane = channel & 3;
    if (together == 2 && lane) {
      real4 high = 0;
      channel += 4;
      if (lane + min(left, 4) > 4) high = PIXEL;
      value = run_of_four(value, high, lane);
    }
  } else {
    LANE(0, value.x)
    LANE(1, value.y)
    LANE(2, value.z)
    LANE(3, value.w)
  }
  STORE(1, y, Z * work_x + X, Y, left, value);
}
