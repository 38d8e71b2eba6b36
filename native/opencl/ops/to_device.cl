// Numbers in the order of the host become pixels.
__kernel void to_device(WORK, __global const float *x, OUT(1, y), const int width, const int channels) {
  BEGIN
  const int block = X / width, left = channels - block * 4;
  const long at = ((long)Y * width + X % width) * channels + block * 4;
  float4 value = 0;
  value.x = x[at];
  if (left > 1) value.y = x[at + 1];
  if (left > 2) value.z = x[at + 2];
  if (left > 3) value.w = x[at + 3];
  STORE(1, y, X, Y, left, TO_REAL4(value));
}
