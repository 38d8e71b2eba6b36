#define FUNCTION(x) log(x)
#include "unary.cl"
