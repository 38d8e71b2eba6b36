#define NEUTRAL INFINITY
#define FOLD(a, b) fmin(a, b)
#include "reduce.cl"
