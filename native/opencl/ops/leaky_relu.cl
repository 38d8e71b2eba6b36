#define FUNCTION(x) select(x, a * x, x < 0.0f)
#include "unary.cl"
