#define FUNCTION(x) limited(x, a, b)
#include "unary.cl"
