#define FUNCTION(x) 1.0f / (1.0f + exp(-(x)))
#include "unary.cl"
