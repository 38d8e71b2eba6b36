// `values`: off and on. y is [outer, depth, inner], the indices are [outer, inner].
__kernel void mark(WORK, IN(0, values), OUT(1, y), IN_NUMBERS(indices), const int channels, const int depth,
                   const int inner) {
  BEGIN
  const real4 value = LOAD(0, values, 0, 0);
  const int first = Z * 4, left = channels - first;
  int4 hot = 0;
  for (int lane = 0; lane < min(left, 4); ++lane) {
    const int at = (Y * work_x + X) * channels + first + lane;
    const int index = indices[at / inner / depth * inner + at % inner], place = at / inner % depth;
    if (index == place || index + depth == place) hot |= (int4)(0, 1, 2, 3) == (int4)(lane);
  }
  const float4 off = (float4)((float)value.x), on = (float4)((float)value.y);
  STORE(1, y, Z * work_x + X, Y, left, TO_REAL4(select(off, on, hot)));
}
