#include "native/core/tiles_unit.h"
