#include "walk.cl"
