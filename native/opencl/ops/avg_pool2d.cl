#define EMPTY 0
#define TAKE(total, x) total += x
#define COUNTS
#include "pool.cl"
