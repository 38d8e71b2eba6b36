/* Stands in for <sys/auxv.h> of the Android NDK: what the kernel says of the processor. */
#ifndef LATHE_ANDROID_CHECK_SYS_AUXV_H_
#define LATHE_ANDROID_CHECK_SYS_AUXV_H_

#ifdef __cplusplus
extern "C" {
#endif

#define AT_HWCAP 16

unsigned long getauxval(unsigned long type);

#ifdef __cplusplus
}
#endif

#endif /* LATHE_ANDROID_CHECK_SYS_AUXV_H_ */
