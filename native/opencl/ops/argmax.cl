#include "place.cl"
