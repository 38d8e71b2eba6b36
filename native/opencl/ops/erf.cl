#define FUNCTION(x) erf(x)
#include "unary.cl"
