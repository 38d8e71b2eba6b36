float4 power(float4 a, float4 b) {
  if (all(b == 2.0f)) return a * a;
  if (all(b == 0.5f)) return sqrt(a);
  return pow(a, b);
}
#define FUNCTION(a, b) power(a, b)
#include "binary.cl"
