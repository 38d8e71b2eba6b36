// Windows over two axes. Before this text stand EMPTY, the result of a window without taps; TAKE(total, x); and COUNTS
// where the result is divided by the count of taps.
// `counted_rows`, `counted_columns`: taps before these count though they may lie in the padding; or taps inside the
// input alone count, where they are below 0.
__kernel void pool(WORK, IN(0, x), OUT(1, y), const int x_rows, const int x_columns, const int y_rows,
                   const int channels, const int kernel_rows, const int kernel_columns, const int stride_rows,
                   const int stride_columns, const int dilation_rows, const int dilation_columns, const int before_rows,
                   const int before_columns, const int counted_rows, const int counted_columns) {
  BEGIN
  const int top = Y % y_rows * stride_rows - before_rows, left = X * stride_columns - before_columns;
  const int first_row = top < 0 ? (dilation_rows - 1 - top) / dilation_rows : 0;
  const int first_column = left < 0 ? (dilation_columns - 1 - left) / dilation_columns : 0;
  const int end_row = min(kernel_rows, (x_rows - top + dilation_rows - 1) / dilation_rows);
  const int end_column = min(kernel_columns, (x_columns - left + dilation_columns - 1) / dilation_columns);
  const int image = Y / y_rows * x_rows, block = Z * x_columns;
  float4 total = EMPTY;
  for (int i = first_row; i < end_row; ++i) {
    const int row = image + top + i * dilation_rows;
    for (int j = first_column; j < end_column; ++j) {
      const float4 tap = TO_FLOAT4(LOAD(0, x, block + left + j * dilation_columns, row));
      TAKE(total, tap);
    }
  }
#ifdef COUNTS
  const int rows = counted_rows < 0 ? end_row - first_row
                                    : min(kernel_rows, (counted_rows - top + dilation_rows - 1) / dilation_rows);
  const int columns = counted_columns < 0
                          ? end_column - first_column
                          : min(kernel_columns, (counted_columns - left + dilation_columns - 1) / dilation_columns);
  total /= max(max(rows, 0) * max(columns, 0), 1);
#endif
  STORE(1, y, Z * work_x + X, Y, channels - Z * 4, TO_REAL4(total));
}
