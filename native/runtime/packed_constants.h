// Packed constants that wait for the kernel of the node that reads them. Only libraries with kernels that read
// constants as they are stored hold the code, through Registry::load_packed: in others all are expanded at once.
#ifndef LATHE_RUNTIME_PACKED_CONSTANTS_H_
#define LATHE_RUNTIME_PACKED_CONSTANTS_H_

#include "native/runtime/kernel.h"

namespace lathe {

struct Node;

// Finds or expands the packed constant of a node, now that a kernel is known that may run it.
Code LoadPackedConstants(Engine* engine, const Node& node, const KernelDef& kernel);

}  // namespace lathe

#endif  // LATHE_RUNTIME_PACKED_CONSTANTS_H_
