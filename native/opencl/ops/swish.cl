#define FUNCTION(x) x / (1.0f + exp(-x))
#include "unary.cl"
