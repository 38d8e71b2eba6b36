#define FUNCTION(x) sinh(x)
#include "unary.cl"
