#include "fold.cl"
