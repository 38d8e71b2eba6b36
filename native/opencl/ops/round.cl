#define FUNCTION(x) rint(x)
#include "unary.cl"
