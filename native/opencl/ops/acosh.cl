#define FUNCTION(x) acosh(x)
#include "unary.cl"
