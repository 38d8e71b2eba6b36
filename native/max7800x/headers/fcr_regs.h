/* Stands for the header of this name in the manufacturer's software, of where the other core starts: all of it is in
 * mxc.h. */
#ifndef LATHE_MAX7800X_FCR_REGS_H
#define LATHE_MAX7800X_FCR_REGS_H

#include "mxc.h"

#endif
