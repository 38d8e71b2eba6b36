// ONE of each lane by itself: of vectors that hold tiny and huge angles some devices make something else.
float4 by_lane(float4 x) { return (float4)(ONE(x.x), ONE(x.y), ONE(x.z), ONE(x.w)); }
#define FUNCTION(x) by_lane(x)
#include "unary.cl"
