#define FUNCTION(x) cosh(x)
#include "unary.cl"
