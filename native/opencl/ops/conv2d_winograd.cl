// Winograd's convolution of 3 x 3 taps, F(SIZE x SIZE, 3 x 3), in three launches: STAGE 0 transforms tiles of the
// input, 1 multiplies, 2 transforms back. Between them pixels are (tile, part * blocks + block).
#define SIDE (SIZE + 2)
#define WINOGRAD
#if STAGE == 2
#define Y_AT 1
#define BIAS_AT 2
#define RESIDUAL_AT 3
#endif

#include "tile.cl"
#if STAGE == 1
#include "product.cl"
#else
// A line of the tile, in its place.
#define D(i) d[(i) * step]
#if SIZE == 2
void forward(real4 *d, const int step) {
  const real4 b = D(1);
  D(0) -= D(2);
  D(1) += D(2);
  D(2) -= b;
  D(3) = b - D(3);
}
void backward(float4 *d, const int step) {
  D(0) += D(1) + D(2);
  D(1) -= D(2) + D(3);
}
#else
// Through the points 0, +-1/sqrt(2), +-sqrt(2) and infinity: halves lose a quarter of what they do by whole numbers.
#define ROOT 1.41421356f
void forward(real4 *d, const int step) {
  const real4 p = D(4) - D(2) * (real)2, q = D(3) * (real)(ROOT / 2) - D(1) * (real)ROOT;
  const real4 r = D(4) - D(2) * (real)0.5f, s = D(3) * (real)ROOT - D(1) * (real)(ROOT / 2);
  D(0) += D(4) - D(2) * (real)2.5f;
  D(5) += D(1) - D(3) * (real)2.5f;
  D(1) = p + q;
  D(2) = p - q;
  D(3) = r + s;
  D(4) = r - s;
}
void backward(float4 *d, const int step) {
  const float4 s = D(1) + D(2), t = D(1) - D(2), u = D(3) + D(4), v = D(3) - D(4);
  D(0) += s + u;
  D(1) = t * (ROOT / 2) + v * ROOT;
  D(2) = s * 0.5f + u * 2.0f;
  D(3) = t * (ROOT / 4) + v * (ROOT * 2) + D(5);
}
#endif

#if STAGE == 0
__kernel void transform(WORK, IN(0, x), OUT(1, y), const int height, const int width, const int blocks,
                        const int tiles_y, const int tiles_x, const int top, const int left) {
  BEGIN
  const int first_x = X % tiles_x * SIZE - left, first_y = X / tiles_x % tiles_y * SIZE - top;
  const int image = X / tiles_x / tiles_y * height;
  real4 d[SIDE * SIDE];
#pragma unroll
  for (int j = 0; j < SIDE; ++j) {
#pragma unroll
    for (int i = 0; i < SIDE; ++i) {
      const bool is_inside = WITHIN(first_x + j, width) && WITHIN(first_y + i, height);
      d[i * SIDE + j] = LOAD_IF(0, x, is_inside, Y * width + first_x + j, image + first_y + i);
    }
    forward(d + j, SIDE);
  }
#pragma unroll
  for (int i = 0; i < SIDE; ++i) {
    forward(d + i * SIDE, 1);
#pragma unroll
    for (int j = 0; j < SIDE; ++j) {
      STORE(1, y, X, (i * SIDE + j) * blocks + Y, 4, d[i * SIDE + j]);
    }
  }
}
#else
__kernel void transform_back(WORK, IN(0, x), OUT(1, y) ADDED_ARGUMENTS, const int out_height, const int out_width,
                             const int channels, const int blocks, const int tiles_y, const int tiles_x
                             LAST_ARGUMENTS) {
  BEGIN
  const int first_x = X % tiles_x * SIZE, first_y = X / tiles_x % tiles_y * SIZE;
  const int image = X / tiles_x / tiles_y * out_height;
  float4 d[SIDE * SIDE];
#pragma unroll
  for (int j = 0; j < SIDE; ++j) {
#pragma unroll
    for (int i = 0; i < SIDE; ++i) d[i * SIDE + j] = TO_FLOAT4(LOAD(0, x, X, (i * SIDE + j) * blocks + Y));
    backward(d + j, SIDE);
  }
#pragma unroll
  for (int i = 0; i < SIZE; ++i) {
    backward(d + i * SIDE, 1);
#pragma unroll
    for (int j = 0; j < SIZE; ++j) {
      if (first_x + j < out_width && first_y + i < out_height) {
        FINISH(d[i * SIDE + j], Y, Y * out_width + first_x + j, image + first_y + i)
      }
    }
  }
}
#endif
#endif
