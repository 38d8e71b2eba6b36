#define FUNCTION(x) sqrt(x)
#include "unary.cl"
