#define FUNCTION(x) x / (1.0f + fabs(x))
#include "unary.cl"
