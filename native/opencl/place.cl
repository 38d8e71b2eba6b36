// The place of the largest of `size` elements along an axis of x, or with `sign` -1 of the smallest; what is no number
// comes before all others. `inner`: how many elements a step along the axis passes over; it leads on by
// `step_row`, `step_column` or `step_channel`. `later`: of equal ones it is the last.
__kernel void find_place(WORK, IN(0, x), OUT_NUMBERS(y), const int x_columns, const int x_channels, const int size,
                         const int inner, const int step_row, const int step_column, const int step_channel,
                         const int later, const float sign) {
  BEGIN
  const int which = Y * work_x + X, at = which / inner * size * inner + which % inner;
  const int row = at / x_channels / x_columns, column = at / x_channels % x_columns, channel = at % x_channels;
  real4 pixel = 0;
  float best = -INFINITY;
  int found = 0;
  for (int i = 0; i < size; ++i) {
    const int from = channel + i * step_channel;
    if (i == 0 || step_channel == 0 || from % 4 == 0) {
      pixel = LOAD(0, x, from / 4 * x_columns + column + i * step_column, row + i * step_row);
    }
    const float value = sign * (float)lane_of(pixel, from & 3);
    if (isnan(best) ? (later && isnan(value)) : (isnan(value) || value > best || (later && value == best))) {
      best = value;
      found = i;
    }
  }
  y[which] = found;
}
