#include "options.h"

#include <algorithm>
#include <cstdlib>

#include "base/comma_list.h"

namespace relay::bench {
namespace {

constexpr const char* kUsage =
    "usage: relay_bench PROGRAM [options]\n"
    "  --quick           a first impression in a few minutes\n"
    "  --only WORK,...   only these workloads\n"
    "  --subjects A,...  only these subjects\n"
    "  --rounds N        rounds, 5 by default; subjects alternate\n"
    "  --seconds S       length of a measurement, 1 by default\n"
    "  --backlog N       messages stored for an offline recipient, 100000 by default\n"
    "  --history N       also measure with N stored messages (1000000 at most by default)\n"
    "  --cores apart     driver and servers on separate cores; one: on the same core; free: any core\n"
    "  --json FILE       all measurements\n"
    "  --markdown FILE   the tables\n"
    "  --svg FILE        a summary as a picture\n"
    "  --list            list workloads and subjects\n";

}  // namespace

Result<Options> read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    const auto value = [&] { return std::string{i + 1 < argc ? argv[++i] : ""}; };
    if (arg == "--quick") {
      options.rounds = 3;
      options.scale.seconds = 0.1;
      options.scale.backlog = 20'000;
      options.scale.histories = {0, 20'000, 100'000};
      options.scale.starts = 10;
      options.scale.idle_seconds = 3;
    } else if (arg == "--only" || arg == "--subjects") {
      const auto names = value();
      for (const auto name : comma_list(names)) (arg == "--only" ? options.only : options.subjects).emplace(name);
    } else if (arg == "--rounds") {
      options.rounds = std::atoi(value().c_str());
    } else if (arg == "--seconds") {
      options.scale.seconds = std::strtod(value().c_str(), nullptr);
    } else if (arg == "--backlog") {
      options.scale.backlog = std::strtoul(value().c_str(), nullptr, 10);
    } else if (arg == "--history") {
      options.scale.histories.push_back(std::strtoul(value().c_str(), nullptr, 10));
    } else if (arg == "--json") {
      options.json_file = value();
    } else if (arg == "--markdown") {
      options.markdown_file = value();
    } else if (arg == "--svg") {
      options.svg_file = value();
    } else if (arg == "--cores") {
      const auto cores = value();
      if (cores != "apart" && cores != "one" && cores != "free") return fail(kUsage);
      options.cores = cores == "apart" ? Cores::Apart : cores == "one" ? Cores::One : Cores::Free;
    } else if (arg == "--list") {
      options.list = true;
    } else if (arg.starts_with('-') || !options.scale.program.empty()) {
      return fail(kUsage);
    } else {
      options.scale.program = arg;
    }
  }
  std::ranges::sort(options.scale.histories);
  if ((options.scale.program.empty() && !options.list) || options.rounds < 1 || options.scale.backlog < 1)
    return fail(kUsage);
  return options;
}

}  // namespace relay::bench
