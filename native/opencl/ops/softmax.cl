#define FINISH(x, sum) exp(x) / sum
#include "softmax.cl"
