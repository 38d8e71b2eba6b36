/* Stands in for <math.h> of the Android NDK: functions of numbers. */
#ifndef LATHE_ANDROID_CHECK_MATH_H_
#define LATHE_ANDROID_CHECK_MATH_H_

#ifdef __cplusplus
extern "C" {
#endif

#define HUGE_VAL __builtin_huge_val()
#define HUGE_VALF __builtin_huge_valf()
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")

double ceil(double x);
float ceilf(float x);
double cos(double x);
double erf(double x);
double exp(double x);
double floor(double x);
float floorf(float x);
double fmod(double x, double y);
float fmodf(float x, float y);
double log(double x);
double pow(double x, double y);
float powf(float x, float y);
double sin(double x);
double sqrt(double x);
float sqrtf(float x);
double tan(double x);
double tanh(double x);

#ifdef __cplusplus
}
#endif

#endif /* LATHE_ANDROID_CHECK_MATH_H_ */
