#include "native/core/vector_fp16.h"
// The header of the instruction set goes first.
#include "native/ops/pointwise_dwconv2d/pointwise_dwconv2d_rows.h"

LATHE_KERNEL(pointwise_dwconv2d_f16_3x3__fp16) = {"pointwise_dwconv2d_f16_3x3__fp16",
                                                  "pointwise_dwconv2d",
                                                  sizeof(lathe::PointwiseState),
                                                  sizeof(lathe::PointwisePlan),
                                                  -1,
                                                  lathe::PreparePointwise,
                                                  lathe::PlanPointwise,
                                                  lathe::RunPointwise,
                                                  0,
                                                  lathe::PackingBit(lathe::kPanelPacking)};
