// FUNCTION of two numbers each. Operands with one element along an axis of y have it everywhere there: `*_column` and
// `*_channel` are 0 then. Rows of y lead to rows of an operand by one step, or, where ROWS is 4, are four axes, which
// count as digits do, with a step each.
// With SCALAR one operand is a number: 1 the second one, 2 the first one.
#if ROWS == 4
#define STEPS(t) const int t##_row0, const int t##_row1, const int t##_row2, const int t##_row3
#define ROW(t) row0 *t##_row0 + row1 *t##_row1 + row2 *t##_row2 + row3 *t##_row3
#define SIZES , const int size1, const int size2, const int size3
#else
#define STEPS(t) const int t##_row
#define ROW(t) Y *t##_row
#define SIZES
#endif
#define PLACES(t) const int t##_columns, const int t##_column, const int t##_channel, STEPS(t)
#define OPERAND(n, t) \
  one_or_four(LOAD(n, t, Z * t##_channel * t##_columns + X * t##_column, ROW(t)), t##_channel | (channels == 1))
#if SCALAR == 0
#define Y_AT 2
#define OTHER IN(1, b)
#define OTHER_PLACES PLACES(b),
#else
#define Y_AT 1
#define OTHER const float b
#define OTHER_PLACES
#endif
#ifdef ACTIVATION
#define LAST_ARGUMENTS , ACTIVATION_ARGUMENTS
#define FINISHED(x) activated(x, activation_a, activation_b)
#else
#define LAST_ARGUMENTS
#define FINISHED(x) (x)
#endif

float4 one_or_four(real4 pixel, int four) { return TO_FLOAT4(four ? pixel : (real4)(pixel.x)); }

__kernel void binary(WORK, IN(0, a), OTHER, OUT(Y_AT, y), PLACES(a), OTHER_PLACES const int channels SIZES LAST_ARGUMENTS) {
  BEGIN
#if ROWS == 4
  const int row3 = Y % size3, row2 = Y / size3 % size2;
  const int row1 = Y / size3 / size2 % size1, row0 = Y / size3 / size2 / size1;
#endif
  const float4 one = OPERAND(0, a);
#if SCALAR == 0
  const float4 other = OPERAND(1, b);
#else
  const float4 other = b;
#endif
#if SCALAR == 2
  const float4 result = FUNCTION(other, one);
#else
  const float4 result = FUNCTION(one, other);
#endif
  STORE(Y_AT, y, Z * work_x + X, Y, channels - Z * 4, TO_REAL4(FINISHED(result)));
}
