// FUNCTION of every number; `a` and `b` are its parameters.
__kernel void unary(WORK, IN(0, x), OUT(1, y), const int width, const int channels, const float a, const float b) {
  BEGIN
  STORE(1, y, X, Y, channels - X / width * 4, TO_REAL4(FUNCTION(TO_FLOAT4(LOAD(0, x, X, Y)))));
}
