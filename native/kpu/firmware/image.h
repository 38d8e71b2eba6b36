/* What the assembler file of a model holds, for the programs of this folder. */
#ifndef LATHE_KPU_FIRMWARE_IMAGE_H_
#define LATHE_KPU_FIRMWARE_IMAGE_H_

#include <stddef.h>
#include <stdint.h>

#include "lathe_kpu.h"

extern const char lathe_model_name[];
extern const uint8_t lathe_model[], lathe_model_end[];   /* a kmodel, aligned to 256 */
extern const uint8_t lathe_sample[], lathe_sample_end[]; /* an input for it */
extern uint8_t lathe_main_memory[], lathe_main_memory_end[];
extern const lathe_kpu_regions lathe_regions; /* of the first output; without anchors where it is no YOLO v2 */

#endif /* LATHE_KPU_FIRMWARE_IMAGE_H_ */
