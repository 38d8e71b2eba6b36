// Series of pixels. GROUP work items share one, of which each takes every GROUPth pixel; X and Y say which series it is.
// LANES: a series goes over the lanes of its pixels, too; else there are four beside each other.
#if GROUP > 1
#define BEGIN_SERIES                                                                             \
  __local float4 shared[GROUP];                                                                  \
  const int item = get_local_id(0), X = get_global_id(0) / GROUP, Y = get_global_id(1);
#define SHARED(name, FOLD)                                                                 \
  float4 name(float4 value, __local float4 *shared, int item) {                            \
    barrier(CLK_LOCAL_MEM_FENCE);                                                          \
    shared[item] = value;                                                                  \
    for (int reach = GROUP / 2; reach > 0; reach /= 2) {                                   \
      barrier(CLK_LOCAL_MEM_FENCE);                                                        \
      if (item < reach) shared[item] = FOLD(shared[item], shared[item + reach]);           \
    }                                                                                      \
    barrier(CLK_LOCAL_MEM_FENCE);                                                          \
    return OVER_LANES(FOLD, shared[0]);                                                    \
  }
#define OF_SERIES(name, value) name(value, shared, item)
#else
#define BEGIN_SERIES BEGIN const int item = 0;
#define SHARED(name, FOLD) \
  float4 name(float4 value) { return OVER_LANES(FOLD, value); }
#define OF_SERIES(name, value) name(value)
#endif
#if LANES
#define OVER_LANES(FOLD, value) (float4)(FOLD(FOLD((value).x, (value).y), FOLD((value).z, (value).w)))
#else
#define OVER_LANES(FOLD, value) (value)
#endif
#define PLUS(a, b) ((a) + (b))
SHARED(series_sum, PLUS)
#define SUM_OF_SERIES(value) OF_SERIES(series_sum, value)
