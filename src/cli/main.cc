/// The program: words in, one command, an exit code.
#include <string>
#include <vector>

#include "cli/program.h"

int main(int count, char** words) { return relay::cli::run_program({words + (count > 0 ? 1 : 0), words + count}); }
