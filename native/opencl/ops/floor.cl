#define FUNCTION(x) floor(x)
#include "unary.cl"
