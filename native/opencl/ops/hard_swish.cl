#define FUNCTION(x) x * limited(x / 6.0f + 0.5f, 0, 1)
#include "unary.cl"
