#include "options.h"

#include <algorithm>
#include <cstdlib>

#include "base/comma_list.h"

namespace relay::bench {
namespace {

constexpr const char* kUsage =
    "usage: relay_bench PROGRAM [options]\n"
    "  --quick           a first impression in a few minutes\n"
    "  --only WORK,...   these kinds of work\n"
    "  --subjects A,...  these subjects\n"
    "  --rounds N        5; rounds of all subjects alternate\n"
    "  --seconds S       1; of each measurement\n"
    "  --backlog N       100000 messages wait for who is away\n"
    "  --history N       also with N messages before (1000000 is the most otherwise)\n"
    "  --cores apart     each of driver and servers has its own; one: both share it; free: the scheduler decides\n"
    "  --json FILE       everything that was measured\n"
    "  --markdown FILE   the tables\n"
    "  --svg FILE        the most telling of it as a picture\n"
    "  --list            names of work and subjects\n";

}  // namespace

Result<Options> read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&] { return std::string{i + 1 < argc ? argv[++i] : ""}; };
    if (word == "--quick") {
      options.rounds = 3;
      options.scale.seconds = 0.1;
      options.scale.backlog = 20'000;
      options.scale.histories = {0, 20'000, 100'000};
      options.scale.starts = 10;
      options.scale.idle_seconds = 3;
    } else if (word == "--only" || word == "--subjects") {
      const auto names = value();
      for (const auto name : comma_list(names)) (word == "--only" ? options.only : options.subjects).emplace(name);
    } else if (word == "--rounds") {
      options.rounds = std::atoi(value().c_str());
    } else if (word == "--seconds") {
      options.scale.seconds = std::strtod(value().c_str(), nullptr);
    } else if (word == "--backlog") {
      options.scale.backlog = std::strtoul(value().c_str(), nullptr, 10);
    } else if (word == "--history") {
      options.scale.histories.push_back(std::strtoul(value().c_str(), nullptr, 10));
    } else if (word == "--json") {
      options.json_file = value();
    } else if (word == "--markdown") {
      options.markdown_file = value();
    } else if (word == "--svg") {
      options.svg_file = value();
    } else if (word == "--cores") {
      const auto wish = value();
      if (wish != "apart" && wish != "one" && wish != "free") return fail(kUsage);
      options.cores = wish == "apart" ? Cores::Apart : wish == "one" ? Cores::One : Cores::Free;
    } else if (word == "--list") {
      options.list = true;
    } else if (word.starts_with('-') || !options.scale.program.empty()) {
      return fail(kUsage);
    } else {
      options.scale.program = word;
    }
  }
  std::ranges::sort(options.scale.histories);
  if ((options.scale.program.empty() && !options.list) || options.rounds < 1 || options.scale.backlog < 1)
    return fail(kUsage);
  return options;
}

}  // namespace relay::bench
