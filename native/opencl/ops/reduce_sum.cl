#define NEUTRAL 0.0f
#define FOLD(a, b) (a) + (b)
#include "reduce.cl"
