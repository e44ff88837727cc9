#include "runtime/engine/engine.hpp"
