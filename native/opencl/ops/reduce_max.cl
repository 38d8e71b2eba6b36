#define NEUTRAL -INFINITY
#define FOLD(a, b) fmax(a, b)
#include "reduce.cl"
