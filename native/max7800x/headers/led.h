/* Stands for the header of this name in the manufacturer's software, of the lights of a board: all of it is in mxc.h.
 */
#ifndef LATHE_MAX7800X_LED_H
#define LATHE_MAX7800X_LED_H

#include "mxc.h"

#endif
