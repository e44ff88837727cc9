#include "analytics/cluster/clara.hpp"
#include <fstream>
