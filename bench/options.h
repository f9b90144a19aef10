/// The command line of relay_bench.
#pragma once

#include <set>
#include <string>

#include "base/result.h"
#include "subjects/cores.h"
#include "workloads/workload.h"

namespace relay::bench {

struct Options {
  Scale scale;
  int rounds = 5;
  std::set<std::string> only, subjects;
  Cores cores = Cores::Apart;
  bool list = false;
  std::string json_file, markdown_file, svg_file;
};

/// The error message is the usage text.
Result<Options> read_options(int argc, char** argv);

}  // namespace relay::bench
