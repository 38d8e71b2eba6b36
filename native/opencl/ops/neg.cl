#define FUNCTION(x) -(x)
#include "unary.cl"
