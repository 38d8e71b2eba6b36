#define FUNCTION(x) ceil(x)
#include "unary.cl"
