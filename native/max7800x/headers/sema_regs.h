/* Stands for the header of this name in the manufacturer's software, of how the cores wake each other: all of it is in
 * mxc.h. */
#ifndef LATHE_MAX7800X_SEMA_REGS_H
#define LATHE_MAX7800X_SEMA_REGS_H

#include "mxc.h"

#endif
