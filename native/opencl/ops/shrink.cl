#define FUNCTION(x) select(select((float4)(0), x - b, x > a), x + b, x < -a)
#include "unary.cl"
