// Of x, [outer, size, inner], those of the middle axis that `indices` say. A unit is an element, or where pixels stay
// as they are a pixel of any channel.
#define PARAMETERS \
  , IN_NUMBERS(indices), const int count, const int size, const int inner, const int x_units, const int y_units
#define SOURCE                                                               \
  const int at = (row * work_x + column) * y_units + (together ? 0 : channel);  \
  const int index = indices[at / inner % count];                             \
  const int place = clamp(index < 0 ? index + size : index, 0, size - 1);    \
  const int from = (at / inner / count * size + place) * inner + at % inner; \
  if (!together) channel = from % x_units;                                      \
  column = from / x_units % x_columns;                                       \
  row = from / x_units / x_columns;
#include "movement.cl"
