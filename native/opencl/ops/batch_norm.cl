__kernel void batch_norm(WORK, IN(0, x), IN(1, scale), IN(2, bias), IN(3, mean), IN(4, variance), OUT(5, y),
                         const int channels, const float epsilon) {
  BEGIN
#define OF_CHANNELS(n, name) TO_FLOAT4(LOAD(n, name, Z, 0))
  const float4 factor = OF_CHANNELS(1, scale) / sqrt(OF_CHANNELS(4, variance) + epsilon);
  const float4 value = TO_FLOAT4(LOAD(0, x, Z * work_x + X, Y)) - OF_CHANNELS(3, mean);
  STORE(5, y, Z * work_x + X, Y, channels - Z * 4, TO_REAL4(value * factor + OF_CHANNELS(2, bias)));
}
