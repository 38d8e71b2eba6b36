/* Stands for the header of this name in the manufacturer's software, of the power of the accelerator: all of it is in
 * mxc.h. */
#ifndef LATHE_MAX7800X_GCFR_REGS_H
#define LATHE_MAX7800X_GCFR_REGS_H

#include "mxc.h"

#endif
