// The C++ interface of Paddle-Lite, for programs that were written for it: headers alone, over the C table of
// lathe/c_api.h, for C++11 and later. docs/how-to/from-paddle-lite.md says what is the same and what is not. Lathe is
// not affiliated with Paddle-Lite, and reads models that Lathe has converted, not those of `opt`.
//
// The include folder of a build belongs to its library (paddle/bound_library.h): predictors of a source file use that
// library, and those whose headers the same file includes besides.
//
// What is wrong comes as an exception, paddle::lite_api::Error; without exceptions the text is printed and the program
// ends, as in Paddle-Lite.
#ifndef PADDLE_LITE_API_H_
#define PADDLE_LITE_API_H_

#include "paddle/face/config.h"
#include "paddle/face/create.h"
#include "paddle/face/interface.h"
#include "paddle_place.h"

// After all else: it needs what stands above.
#include "paddle/bound_library.h"

#endif  // PADDLE_LITE_API_H_
