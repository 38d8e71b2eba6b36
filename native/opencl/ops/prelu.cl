#define FUNCTION(a, b) select(a, a * b, a < 0.0f)
#include "binary.cl"
