// In the include folder of a build this file names the library of that build. Here it names none.
#ifndef MACE_BOUND_LIBRARY_H_
#define MACE_BOUND_LIBRARY_H_

#endif  // MACE_BOUND_LIBRARY_H_
