#define NEUTRAL INFINITY
#define FOLD(a, b) select(a, b, b < a | b != b)
#include "reduce.cl"
