// A unit is an element, or the four of a pixel where they stay together.
#define PARAMETERS , const int x_units, const int y_units
#define SOURCE                                                                         \
  const int at = (row * work_x + column) * y_units + (together ? channel >> 2 : channel); \
  channel = at % x_units;                                                              \
  column = at / x_units % x_columns;                                                   \
  row = at / x_units / x_columns;                                                      \
  if (together) channel *= 4;
#include "movement.cl"
