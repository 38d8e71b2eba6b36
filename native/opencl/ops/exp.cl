#define FUNCTION(x) exp(x)
#include "unary.cl"
