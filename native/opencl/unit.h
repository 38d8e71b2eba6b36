// What a device unit is: one way to run an operator on an OpenCL device. `native/opencl/ops/<unit>.cc` says how, with
// the text of its kernels beside it in <unit>.cl and what it takes in <unit>.yaml. The file defines one symbol:
//
//   namespace lathe::opencl { namespace { Code Plan(Node& node) {...} } }
//   LATHE_OPENCL_UNIT(conv2d_1x1) = {"conv2d_1x1", "conv2d", lathe::opencl::Plan};
//
// A library holds the units that its models need. Its generated registry hands them over:
//
//   #include "native/opencl/unit.h"
//   LATHE_DECLARE_OPENCL_UNIT(conv2d_1x1)
//   extern "C" __attribute__((visibility("hidden"))) const unsigned char lathe_opencl_sources[];
//   namespace {
//   constexpr const lathe::opencl::Unit* device_units[] = {&lathe_opencl_unit_conv2d_1x1};
//   constexpr lathe::opencl::Units units = {device_units, lathe_opencl_sources, 1234};
//   }
//   LATHE_DEFINE_OPENCL_UNITS(units)
//
// A library without device units defines none of this, and holds nothing of native/opencl.
#ifndef LATHE_OPENCL_UNIT_H_
#define LATHE_OPENCL_UNIT_H_

#include <stddef.h>

#include "native/runtime/kernel.h"
#include "native/runtime/span.h"

namespace lathe::opencl {

class Node;

struct Unit {
  // No pointers: each would be an entry of the dynamic linker's, three times its size.
  char name[20];  // the stem of its files
  char op[20];
  // Says how the node runs, or declines it with kUnsupported: the next unit of the operator is tried then.
  Code (*plan)(Node& node);
};

struct Units {
  // Those of one operator stand in the order in which they are tried.
  Span<const Unit* const> units;
  // Compressed: common.cl, then the text of each unit in the order of `units`. See sources.h.
  const unsigned char* sources;
  size_t sources_size;
  // What GPUs found out before the library was built: files of store.h, for when the application has no better ones.
  Span<const unsigned char> tuned = {};
  Span<const unsigned char> programs = {};
};

// Those of this library: defined by LATHE_DEFINE_OPENCL_UNITS, hidden.
__attribute__((visibility("hidden"))) const Units& GetUnits();

}  // namespace lathe::opencl

#define LATHE_DECLARE_OPENCL_UNIT(name) \
  extern "C" __attribute__((visibility("hidden"))) const ::lathe::opencl::Unit lathe_opencl_unit_##name;

#define LATHE_OPENCL_UNIT(name)   \
  LATHE_DECLARE_OPENCL_UNIT(name) \
  const ::lathe::opencl::Unit lathe_opencl_unit_##name

// At global scope, once per library. `units` is a constexpr ::lathe::opencl::Units.
#define LATHE_DEFINE_OPENCL_UNITS(units)    \
  namespace lathe::opencl {                 \
  const Units& GetUnits() { return units; } \
  }

#endif  // LATHE_OPENCL_UNIT_H_
