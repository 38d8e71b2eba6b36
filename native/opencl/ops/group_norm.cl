#ifdef GROUP
#include "norm.cl"
#else
// With what has been noted of the groups, each of `size` channels. An image has `rows` rows.
__kernel void normalise(WORK, IN(0, x), IN(1, noted), IN(2, scale), IN(3, bias), OUT(4, y), const int channels,
                        const int size, const int rows) {
  BEGIN
  float4 mean, coarse, deviation;
#define LANE(lane, element)                                                                               \
  {                                                                                                       \
    const float4 of_group = TO_FLOAT4(LOAD(1, noted, min(Z * 4 + lane, channels - 1) / size, Y / rows));  \
    coarse.element = of_group.x;                                                                          \
    mean.element = of_group.y;                                                                            \
    deviation.element = of_group.z;                                                                       \
  }
  LANE(0, x)
  LANE(1, y)
  LANE(2, z)
  LANE(3, w)
  const float4 value = TO_FLOAT4(LOAD(0, x, Z * work_x + X, Y)) - coarse - mean;
  const float4 scaled = value / deviation * TO_FLOAT4(LOAD(2, scale, Z, 0)) + TO_FLOAT4(LOAD(3, bias, Z, 0));
  STORE(4, y, Z * work_x + X, Y, channels - Z * 4, TO_REAL4(scaled));
}
#endif
