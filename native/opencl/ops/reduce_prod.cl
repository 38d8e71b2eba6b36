#define NEUTRAL 1.0f
#define FOLD(a, b) (a) * (b)
#include "reduce.cl"
