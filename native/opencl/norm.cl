// Series of pixels with mean 0 and variance 1, times `scale`, plus `bias`.
//   GROUPS    series X of image Y is of the channels that begin at X * size; else of columns X, X + step, ... of the
//             rows that begin at Y * rows
//   CENTRED   the mean is taken away first
//   OPERANDS  how many of scale and bias there are: of each channel, or without GROUPS of each place in a series
//   NOTED     y gets a pixel for each series instead: its mean in two parts, of few digits each, and its deviation
// `share`: 1 divided by how many numbers a series has.
#include "series.cl"
#if OPERANDS == 0
#define Y_AT 1
#define OPERAND_ARGUMENTS
#elif OPERANDS == 1
#define Y_AT 2
#define OPERAND_ARGUMENTS IN(1, scale),
#else
#define Y_AT 3
#define OPERAND_ARGUMENTS IN(1, scale), IN(2, bias),
#endif
#if GROUPS
#define OPERAND(n, name) TO_FLOAT4(LOAD(n, name, px / columns, 0))
#else
#define OPERAND(n, name) TO_FLOAT4(LOAD(n, name, i % across, i / across))
#endif
#define EACH for (int i = item; i < across * rows; i += GROUP)
#define PLACE                                                               \
  const int px = start + i % across * step, py = Y * rows + i / across;     \
  const int4 channel = (int4)(0, 1, 2, 3) + (int4)(px / columns * 4);       \
  const float4 value = TO_FLOAT4(LOAD(0, x, px, py)) - mean - rest;
#define OWN(value) select((float4)(0), value, channel >= first && channel < first + size)

__kernel void norm(WORK, IN(0, x), OPERAND_ARGUMENTS OUT(Y_AT, y), const int columns, const int channels,
                   const int size, const int step, const int breadth, const int rows, const float share,
                   const float epsilon) {
  BEGIN_SERIES
#if GROUPS
  const int first = X * size, start = first / 4 * columns, across = (first + size + 3) / 4 * columns - start;
#else
  const int first = 0, start = X, across = breadth;
#endif
  float4 mean = 0, rest = 0, sum = 0, squares = 0;
#if CENTRED
  EACH {
    PLACE
    sum += OWN(value);
  }
  mean = SUM_OF_SERIES(sum) * share;
  sum = 0;
#endif
  EACH {
    PLACE
    sum += OWN(value);
    squares += OWN(value * value);
  }
  float4 variance = SUM_OF_SERIES(squares) * share;
#if CENTRED
  // What the mean lacks for being rounded.
  rest = SUM_OF_SERIES(sum) * share;
  variance = fmax(variance - rest * rest, 0.0f);
#endif
  const float4 deviation = sqrt(variance + epsilon);
#if NOTED
  const float coarse = as_float(as_int(mean.x) & 0xffffe000);
  if (item == 0) STORE(Y_AT, y, X, Y, 4, TO_REAL4((float4)(coarse, mean.x - coarse + rest.x, deviation.x, 0)));
#else
  EACH {
    PLACE
    float4 result = value / deviation;
#if OPERANDS > 0
    result *= OPERAND(1, scale);
#endif
#if OPERANDS > 1
    result += OPERAND(2, bias);
#endif
    STORE(Y_AT, y, px, py, channels - channel.x, TO_REAL4(result));
  }
#endif
}
