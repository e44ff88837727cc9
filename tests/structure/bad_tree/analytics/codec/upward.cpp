#include <fstream>
#include "analytics/cluster/clara.hpp"
