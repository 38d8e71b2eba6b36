#define FUNCTION(x) 1.0f / (x)
#include "unary.cl"
