#define EMPTY -INFINITY
#define TAKE(total, x) total = fmax(total, x)
#include "pool.cl"
