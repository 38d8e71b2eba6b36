// Of each element of y the elements of x that FOLD makes one of, beginning with NEUTRAL. y counts its elements, or with
// `whole`, where the channels stay, its pixels of any channel; in x these are columns where columns stay, then rows of
// two axes. What goes are `fold0` and `fold1` rows, `fold_columns` columns of each, and without `whole` the channels.
__kernel void reduce(WORK, IN(0, x), OUT(1, y), const int x_columns, const int x_channels, const int channels,
                     const int whole, const int kept_columns, const int kept_rows, const int step_outer,
                     const int step_inner, const int fold0, const int step0, const int fold1, const int step1,
                     const int fold_columns, const float scale) {
  BEGIN
  const int4 lanes = (int4)(0, 1, 2, 3);
  const int left = channels - Z * 4;
  float4 result = 0;
  for (int lane = 0; lane < (whole ? 1 : min(left, 4)); ++lane) {
    int at = Y * work_x + X;
    if (!whole) at = at * channels + Z * 4 + lane;
    const int column = at % kept_columns;
    at /= kept_columns;
    const int row = at / kept_rows * step_outer + at % kept_rows * step_inner;
    const int first = whole ? Z : 0, end = whole ? Z + 1 : (x_channels + 3) / 4;
    float4 total = NEUTRAL;
    for (int i = 0; i < fold0 * fold1; ++i) {
      const int from = row + i / fold1 * step0 + i % fold1 * step1;
      for (int block = first; block < end; ++block) {
        const int4 there = lanes < (int4)(whole ? 4 : x_channels - block * 4);
        for (int j = 0; j < fold_columns; ++j) {
          const float4 pixel = TO_FLOAT4(LOAD(0, x, block * x_columns + column + j, from));
          const float4 value = select((float4)(NEUTRAL), pixel, there);
          total = FOLD(total, value);
        }
      }
    }
    if (whole) {
      result = total;
    } else {
      const float2 two = FOLD(total.xy, total.zw);
      const float one = FOLD(two.x, two.y);
      result = select(result, (float4)(one), lanes == (int4)(lane));
    }
  }
  STORE(1, y, Z * work_x + X, Y, left, TO_REAL4(result * scale));
}
