#define FUNCTION(x) select(sign(x), x, isnan(x))
#include "unary.cl"
