#include "norm.cl"
