// Programs that link Paddle-Lite statically include this to register its kernels. A library of Lathe holds what its
// models need without it.
#ifndef PADDLE_USE_KERNELS_H_
#define PADDLE_USE_KERNELS_H_

#endif  // PADDLE_USE_KERNELS_H_
