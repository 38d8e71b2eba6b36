#define FUNCTION(a, b) (a) * (b)
#include "binary.cl"
