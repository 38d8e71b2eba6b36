/* Stands in for the clocks of the chip. */
#ifndef SYSCTL_H_
#define SYSCTL_H_

#include <stdint.h>

typedef enum { SYSCTL_PLL0, SYSCTL_PLL1 } sysctl_pll_t;
typedef enum { SYSCTL_CLOCK_DMA, SYSCTL_CLOCK_AI } sysctl_clock_t;

uint32_t sysctl_pll_set_freq(sysctl_pll_t pll, uint32_t pll_freq);
int sysctl_clock_enable(sysctl_clock_t clock);
uint64_t sysctl_get_time_us(void);

#endif /* SYSCTL_H_ */
