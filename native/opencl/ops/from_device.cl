// Pixels become numbers in the order of the host.
__kernel void from_device(WORK, IN(0, x), __global float *y, const int width, const int channels) {
  BEGIN
  const int block = X / width, left = channels - block * 4;
  const long at = ((long)Y * width + X % width) * channels + block * 4;
  const float4 value = TO_FLOAT4(LOAD(0, x, X, Y));
  y[at] = value.x;
  if (left > 1) y[at + 1] = value.y;
  if (left > 2) y[at + 2] = value.z;
  if (left > 3) y[at + 3] = value.w;
}
