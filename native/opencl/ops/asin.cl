#define FUNCTION(x) asin(x)
#include "unary.cl"
