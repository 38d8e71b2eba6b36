// Along an axis, element i of y lies at (i + shift) * factor / divisor - shift of x, which has `last` + 1 elements.
// Computed as exactly as single precision can: half a step decides which element is the nearest one.
float place_of(int i, float shift, float factor, float divisor, int last) {
  const float wanted = (i + shift) * factor;
  const float about = wanted / divisor;
  const float place = about + fma(-about, divisor, wanted) / divisor - shift;
#if NEAREST == 1
  return fmin(fmax(ceil(place - 0.5f), 0.0f), (float)last);
#elif NEAREST == 2
  return fmin(fmax(floor(place + 0.5f), 0.0f), (float)last);
#elif NEAREST == 3
  return fmin(fmax(floor(place), 0.0f), (float)last);
#elif NEAREST == 4
  return fmin(fmax(ceil(place), 0.0f), (float)last);
#else
  return fmin(fmax(place, 0.0f), (float)last);
#endif
}

__kernel void resize(WORK, IN(0, x), OUT(1, y), const int x_rows, const int x_columns, const int y_rows,
                     const int channels, const float row_shift, const float row_factor, const float row_divisor,
                     const float column_shift, const float column_factor, const float column_divisor) {
  BEGIN
  const float down = place_of(Y % y_rows, row_shift, row_factor, row_divisor, x_rows - 1);
  const float across = place_of(X, column_shift, column_factor, column_divisor, x_columns - 1);
  const int image = Y / y_rows * x_rows, block = Z * x_columns;
  const int top = image + min((int)down, x_rows - 1), left = block + min((int)across, x_columns - 1);
#ifdef NEAREST
  const real4 value = LOAD(0, x, left, top);
#else
  const int bottom = min(top + 1, image + x_rows - 1), right = min(left + 1, block + x_columns - 1);
  const real lower = down - (top - image), later = across - (left - block);
  const real upper = 1 - lower, earlier = 1 - later;
  const real4 first = LOAD(0, x, left, top) * upper + LOAD(0, x, left, bottom) * lower;
  const real4 second = LOAD(0, x, right, top) * upper + LOAD(0, x, right, bottom) * lower;
  const real4 value = first * earlier + second * later;
#endif
  STORE(1, y, Z * work_x + X, Y, channels - Z * 4, value);
}
