#include "native/opencl/place.h"

namespace lathe {
namespace opencl {
namespace {

Code Plan(Node& node) { return EnqueuePlace(node, -1.0f); }

}  // namespace
}  // namespace opencl
}  // namespace lathe

LATHE_OPENCL_UNIT(argmin) = {"argmin", "argmin", lathe::opencl::Plan};
