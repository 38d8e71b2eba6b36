#define EMPTY -INFINITY
#define TAKE(total, x) total = select(total, x, x > total | x != x)
#include "pool.cl"
