/* Stands in for what a program for the chip begins with. */
#ifndef BSP_H_
#define BSP_H_

#include <stdint.h>

#endif /* BSP_H_ */
