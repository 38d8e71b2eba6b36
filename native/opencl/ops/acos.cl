#define FUNCTION(x) acos(x)
#include "unary.cl"
