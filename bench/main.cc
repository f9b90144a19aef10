/// relay_bench PROGRAM [options]: our daemon beside other servers on the same work in one run. See README.md.
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "base/comma_list.h"
#include "base/format.h"
#include "figures.h"
#include "report/results.h"
#include "work/driver.h"
#include "work/work.h"

namespace {

using namespace relay;
using namespace relay::bench;

constexpr const char* kUsage =
    "usage: relay_bench PROGRAM [options]\n"
    "  --quick           a first impression in a few minutes\n"
    "  --only WORK,...   these kinds of work\n"
    "  --subjects A,...  these subjects\n"
    "  --rounds N        5; rounds of all subjects alternate\n"
    "  --seconds S       1; of each measurement\n"
    "  --backlog N       100000 messages wait for who is away\n"
    "  --history N       also with N messages before (1000000 is the most otherwise)\n"
    "  --json FILE       everything that was measured\n"
    "  --svg FILE        the most telling of it as a picture\n"
    "  --list            names of work and subjects\n";

constexpr long kTmpfs = 0x01021994;

struct Options {
  Scale scale;
  int rounds = 5;
  std::set<std::string> only, subjects;
  bool list = false;
  std::string json_file, svg_file;
};

struct Field {
  std::vector<std::unique_ptr<Subject>> subjects;
  std::vector<Work> work;
};

Field everything(const Options& options) {
  Field field;
  add_floor(field.subjects);
  add_ours(field.subjects, options.scale.program);
  add_nats(field.subjects);
  add_redis(field.subjects);
  add_mosquitto(field.subjects);
  add_zeromq(field.subjects);
  add_first_daemon(field.subjects);
  field.work = all_work();
  std::erase_if(field.subjects, [&](const auto& subject) {
    return !options.subjects.empty() && !options.subjects.contains(subject->traits().name);
  });
  std::erase_if(field.work,
                [&](const Work& work) { return !options.only.empty() && !options.only.contains(work.name); });
  return field;
}

void say(SteadyTime began, const std::string& words) {
  const bool person = ::isatty(2) != 0;
  std::fprintf(stderr, "%s%5.0f s  %s%s", person ? "\r\033[K" : "", seconds_since(began), words.c_str(),
               person ? "" : "\n");
}

/// An interrupt ends the run; anything else that goes wrong with a subject is told in its table.
Result<void> run(const Field& field, const Options& options, Results& results) {
  const auto began = now();
  for (const auto& work : field.work) {
    const int rounds = std::min(options.rounds, work.most_rounds);
    for (int round = 0; round < rounds; ++round)
      for (const auto& subject : field.subjects) {
        const auto& traits = subject->traits();
        auto why_not = work.unfit(traits);
        if (const auto missing = subject->missing(); missing && !why_not) why_not = "missing: " + *missing;
        if (why_not) {
          results.remark(work, traits, *why_not);
          continue;
        }
        say(began, relay::format("{}, round {} of {}: {}", work.name, round + 1, rounds, traits.name));
        const auto outcomes = work.run(*subject, options.scale);
        if (outcomes)
          results.add(work, traits, *outcomes);
        else if (outcomes.error().message() == "interrupted")
          return Failure{outcomes.error()};
        else
          results.remark(work, traits, relay::format("round {}: {}", round + 1, outcomes.error().message()));
      }
  }
  say(began, "done\n");
  return {};
}

Result<Options> read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&] { return std::string{i + 1 < argc ? argv[++i] : ""}; };
    if (word == "--quick") {
      options.rounds = 2;
      options.scale.seconds = 0.15;
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
    } else if (word == "--svg") {
      options.svg_file = value();
    } else if (word == "--list") {
      options.list = true;
    } else if (word.starts_with('-') || !options.scale.program.empty()) {
      return fail(kUsage);
    } else {
      options.scale.program = word;
    }
  }
  if ((options.scale.program.empty() && !options.list) || options.rounds < 1 || options.scale.backlog < 1)
    return fail(kUsage);
  return options;
}

/// Where and under what it was measured; a disk in memory would make every sync free.
std::string circumstances(const Options& options) {
  struct statfs place{};
  ::statfs(std::filesystem::temp_directory_path().c_str(), &place);
  const std::string_view disk = place.f_type == kTmpfs ? "memory, so syncs are free" : "a disk";
  std::ifstream file{"/proc/loadavg"};
  std::string load;
  file >> load;
  return relay::format("{}; load {} at the end; {} rounds of {} s; files on {}", machine(), load, options.rounds,
                       options.scale.seconds, disk);
}

/// Thousands of connections, ours and the server's.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = read_options(argc, argv);
  if (!options) return std::fputs(options.error().message().c_str(), stderr), 2;
  const auto field = everything(*options);
  if (options->list) {
    for (const auto& work : field.work) std::printf("work     %-12s %s\n", work.name.c_str(), work.title.c_str());
    for (const auto& subject : field.subjects)
      std::printf("subject  %-12s %s\n", subject->traits().name.c_str(), subject->traits().title.c_str());
    return 0;
  }
  raise_descriptor_limit();
  end_turns_on_interrupt();
  std::vector<Traits> subjects;
  for (const auto& subject : field.subjects) subjects.push_back(subject->traits());
  Results results{field.work, subjects};
  const auto ran = run(field, *options, results);
  const auto where = circumstances(*options);
  std::printf("%s\n%s", where.c_str(), table_of(results).c_str());
  if (!options->json_file.empty()) std::ofstream{options->json_file} << json_of(results, where) << "\n";
  if (!options->svg_file.empty()) std::ofstream{options->svg_file} << plot_of(results);
  if (!ran) return std::fprintf(stderr, "%s\n", ran.error().message().c_str()), 1;
  return 0;
}
