#define FUNCTION(x) asinh(x)
#include "unary.cl"
