#include "native/opencl/norm.h"

namespace lathe {
namespace opencl {
namespace {

Code Plan(Node& node) { return PlanRowNorm(node, false); }

}  // namespace
}  // namespace opencl
}  // namespace lathe

LATHE_OPENCL_UNIT(rms_norm) = {"rms_norm", "rms_norm", lathe::opencl::Plan};
