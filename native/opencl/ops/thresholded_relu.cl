#define FUNCTION(x) select((float4)(0), x, x > a)
#include "unary.cl"
