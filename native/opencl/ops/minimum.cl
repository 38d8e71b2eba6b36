#define FUNCTION(a, b) select(b, a, (a < b) | isnan(a))
#include "binary.cl"
