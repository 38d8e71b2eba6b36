#define FUNCTION(x) select(x, a * expm1(x / a), x < 0.0f)
#include "unary.cl"
