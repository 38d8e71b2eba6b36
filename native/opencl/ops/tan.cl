#define ONE tan
#include "by_lane.cl"
