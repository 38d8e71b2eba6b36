// Where a tensor is, of what type, in which order: the words of Paddle-Lite.
#ifndef PADDLE_LITE_PLACE_H_
#define PADDLE_LITE_PLACE_H_

#include "paddle/face/places.h"

#endif  // PADDLE_LITE_PLACE_H_
