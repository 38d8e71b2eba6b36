#define ONE cos
#include "by_lane.cl"
