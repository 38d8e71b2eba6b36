#define FUNCTION(x) b * select(a * expm1(x), x, x > 0.0f)
#include "unary.cl"
