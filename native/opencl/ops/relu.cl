#define FUNCTION(x) select(x, (float4)(0), x < 0.0f)
#include "unary.cl"
