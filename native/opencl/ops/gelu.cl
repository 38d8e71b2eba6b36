// `through_tanh`: the usual approximation instead of erf.
float4 gelu(float4 x, float through_tanh) {
  if (through_tanh > 0.0f) return x * 0.5f * (1.0f + tanh(0.797884561f * (x + 0.044715f * x * x * x)));
  return x * 0.5f * (1.0f + erf(x * M_SQRT1_2_F));
}
#define FUNCTION(x) gelu(x, a)
#include "unary.cl"
