#define FUNCTION(x) log1p(exp(-fabs(x))) + fmax(x, 0.0f)
#include "unary.cl"
