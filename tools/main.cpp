// effort: shows snapshots, and runs the library's algorithms on files.
#include "tools/command_line.hpp"

int main(int argc, char** argv) { return effort::tools::run_command(argc, argv); }
