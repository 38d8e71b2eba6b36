#include "native/opencl/binary.h"

namespace lathe {
namespace opencl {
namespace {

Code Plan(Node& node) { return EnqueueBinary(node, true); }

}  // namespace
}  // namespace opencl
}  // namespace lathe

LATHE_OPENCL_UNIT(add) = {"add", "add", lathe::opencl::Plan};
