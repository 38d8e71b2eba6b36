#include "native/opencl/place.h"

namespace lathe {
namespace opencl {
namespace {

Code Plan(Node& node) { return EnqueuePlace(node, 1.0f); }

}  // namespace
}  // namespace opencl
}  // namespace lathe

LATHE_OPENCL_UNIT(argmax) = {"argmax", "argmax", lathe::opencl::Plan};
