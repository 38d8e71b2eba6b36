// What a device unit is: one way to run an operator on an OpenCL device. native/opencl/ops/<unit>.yaml says of which
// operator, what it takes, and which source plans it (buildtool/plan/units.py); <unit>.cl holds its kernels. The
// source, <unit>.cc beside them or one that several units share, defines the plan:
//
//   LATHE_OPENCL_PLAN(conv2d_1x1)(Node& node) { ... }
//
// A library holds the units that its models need. Its generated registry lists them:
//
//   #include "native/opencl/unit.h"
//   LATHE_DECLARE_OPENCL_PLAN(conv2d_1x1)
//   extern "C" __attribute__((visibility("hidden"))) const unsigned char lathe_opencl_sources[];
//   namespace {
//   constexpr lathe::opencl::Unit device_units[] = {{"conv2d_1x1", "conv2d", lathe::opencl::plan_conv2d_1x1}};
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
  char name[20];  // the stem of its manifest
  char op[20];
  // Says how the node runs, or declines it with kUnsupported: the next unit of the operator is tried then.
  Code (*plan)(Node& node);
};

struct Units {
  // Those of one operator are in the order in which they are tried.
  Span<const Unit> units;
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

// In namespace lathe::opencl: begins the definition of a plan, whose name is that of the unit, or `plan` in its
// manifest.
#define LATHE_OPENCL_PLAN(name) \
  Code plan_##name(Node& node); \
  Code plan_##name

#define LATHE_DECLARE_OPENCL_PLAN(name)                               \
  namespace lathe::opencl {                                           \
  __attribute__((visibility("hidden"))) Code plan_##name(Node& node); \
  }

// At global scope, once per library. `units` is a constexpr ::lathe::opencl::Units.
#define LATHE_DEFINE_OPENCL_UNITS(units)    \
  namespace lathe::opencl {                 \
  const Units& GetUnits() { return units; } \
  }

#endif  // LATHE_OPENCL_UNIT_H_
