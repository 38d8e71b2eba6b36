// The few functions of the C library's mathematics that kernels call (libc.cc); all else is in native/kernel/math.
#ifndef LATHE_HEXAGON_MATH_H_
#define LATHE_HEXAGON_MATH_H_

#define HUGE_VAL __builtin_huge_val()
#define HUGE_VALF __builtin_huge_valf()
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")

#ifdef __cplusplus
extern "C" {
#endif
float floorf(float x);
float ceilf(float x);
float sqrtf(float x);
double floor(double x);
double ceil(double x);
double sqrt(double x);
#ifdef __cplusplus
}
#endif

#endif  // LATHE_HEXAGON_MATH_H_
