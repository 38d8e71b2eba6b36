// Programs that link Paddle-Lite statically include this to register its passes. A library of Lathe holds what its
// models need without it.
#ifndef PADDLE_USE_PASSES_H_
#define PADDLE_USE_PASSES_H_

#endif  // PADDLE_USE_PASSES_H_
