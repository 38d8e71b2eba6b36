#define ONE sin
#include "by_lane.cl"
