// In the include folder of a build this file names the library of that build. Here it names none.
#ifndef PADDLE_BOUND_LIBRARY_H_
#define PADDLE_BOUND_LIBRARY_H_

#endif  // PADDLE_BOUND_LIBRARY_H_
