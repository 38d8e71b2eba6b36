// How functions that take a message are declared, so that a library can do without messages (LATHE_NO_MESSAGES).
#ifndef LATHE_RUNTIME_MESSAGE_H_
#define LATHE_RUNTIME_MESSAGE_H_

#include <stdarg.h>

// Declares a member function that takes a message as printf does: `text` and `first` count its parameters as the
// attribute of that name does. In a library without messages the function is its caller's `silent` and nothing else,
// so that the compiler drops text and arguments; its definition stands between #ifndef LATHE_NO_MESSAGES.
#ifdef LATHE_NO_MESSAGES
#define LATHE_MESSAGE_FUNCTION(declaration, text, first, silent) \
  __attribute__((always_inline)) inline declaration { return silent; }
#else
#define LATHE_MESSAGE_FUNCTION(declaration, text, first, silent) \
  declaration __attribute__((format(printf, text, first)));
#endif

#endif  // LATHE_RUNTIME_MESSAGE_H_
