#define FUNCTION(x) fabs(x)
#include "unary.cl"
