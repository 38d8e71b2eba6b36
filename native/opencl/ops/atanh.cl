#define FUNCTION(x) atanh(x)
#include "unary.cl"
