// Programs that link Paddle-Lite statically include this to register its ops. A library of Lathe holds what its models
// need without it.
#ifndef PADDLE_USE_OPS_H_
#define PADDLE_USE_OPS_H_

#endif  // PADDLE_USE_OPS_H_
