// Macros that name what a program of Paddle-Lite links. A library of Lathe holds what its models need without them.
#ifndef PADDLE_LITE_FACTORY_HELPER_H_
#define PADDLE_LITE_FACTORY_HELPER_H_

#define USE_LITE_OP(op)
#define USE_LITE_KERNEL(op, target, precision, layout, alias)
#define USE_MIR_PASS(name)
#define USE_SUBGRAPH_BRIDGE(op, target)

#endif  // PADDLE_LITE_FACTORY_HELPER_H_
