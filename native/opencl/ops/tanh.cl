#define FUNCTION(x) tanh(x)
#include "unary.cl"
