#define FUNCTION(x) limited(a * x + b, 0, 1)
#include "unary.cl"
