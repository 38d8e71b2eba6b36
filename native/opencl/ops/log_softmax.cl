#define FINISH(x, sum) x - log(sum)
#include "softmax.cl"
