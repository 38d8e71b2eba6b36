__kernel void lrn(WORK, IN(0, x), OUT(1, y), const int channels, const int before, const int behind, const float alpha,
                  const float beta, const float bias) {
  BEGIN
  const int4 mine = (int4)(0, 1, 2, 3) + (int4)(Z * 4);
  const int first = max(Z * 4 - before, 0), end = min(Z * 4 + 4 + behind, channels);
  float4 total = 0;
  float4 value = 0;
  for (int block = first / 4; block * 4 < end; ++block) {
    const float4 other = TO_FLOAT4(LOAD(0, x, block * work_x + X, Y));
    const float4 square = other * other;
    if (block == Z) value = other;
    const int4 way = (int4)(block * 4) - mine;
#define ADD(lane, element) \
  total += select((float4)(0), (float4)(square.element), way + lane >= -before && way + lane <= behind);
    ADD(0, x)
    ADD(1, y)
    ADD(2, z)
    ADD(3, w)
  }
  STORE(1, y, Z * work_x + X, Y, channels - Z * 4, TO_REAL4(value * pow(bias + alpha * total, -beta)));
}
