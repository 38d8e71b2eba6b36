#define FUNCTION(x) atan(x)
#include "unary.cl"
