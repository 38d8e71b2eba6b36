// tanh(log(1 + e)) is n / (n + 2); beyond 20 it is 1.
float4 mish(float4 x) {
  const float4 e = exp(fmin(x, 20.0f)), n = e * (e + 2.0f);
  return x * (n / (n + 2.0f));
}
#define FUNCTION(x) mish(x)
#include "unary.cl"
