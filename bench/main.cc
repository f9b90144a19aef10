/// relay_bench PROGRAM [options]: our daemon beside other servers on the same work in one run. See README.md.
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>

#include "base/format.h"
#include "figures.h"
#include "forwarding/roles.h"
#include "options.h"
#include "report/results.h"
#include "subjects/cores.h"
#include "workloads/driver.h"
#include "workloads/workload.h"

namespace {

using namespace relay;
using namespace relay::bench;

constexpr long kTmpfs = 0x01021994;

struct Field {
  std::vector<std::unique_ptr<Subject>> subjects;
  std::vector<Workload> work;
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
  return field;
}

/// What was asked for; everything where nothing was. A name that nobody has is an error.
Result<void> choose(Field& field, const Options& options) {
  for (const auto& name : options.only)
    if (std::ranges::find(field.work, name, &Workload::name) == field.work.end())
      return fail("there is no work " + name);
  for (const auto& name : options.subjects)
    if (std::ranges::none_of(field.subjects, [&](const auto& each) { return each->traits().name == name; }))
      return fail("there is no subject " + name);
  const auto unwanted = [](const std::set<std::string>& wanted, const std::string& name) {
    return !wanted.empty() && !wanted.contains(name);
  };
  std::erase_if(field.work, [&](const Workload& work) { return unwanted(options.only, work.name); });
  std::erase_if(field.subjects, [&](const auto& each) { return unwanted(options.subjects, each->traits().name); });
  return {};
}

void say(SteadyTime began, const std::string& words) {
  const bool person = ::isatty(2) != 0;
  std::fprintf(stderr, "%s%5.0f s  %s%s", person ? "\r\033[K" : "", seconds_since(began), words.c_str(),
               person ? "" : "\n");
}

/// Somebody's turn at a kind of work.
struct Turn {
  Traits traits;
  std::optional<std::string> why_not;  // it has none
  std::function<Result<std::vector<Outcome>>()> take;
};

std::vector<Turn> turns_at(const Workload& work, const Field& field, const Scale& scale) {
  std::vector<Turn> turns;
  for (const auto& candidate : work.candidates)
    turns.push_back({candidate.traits, std::nullopt, [&] { return candidate.run(scale); }});
  if (!turns.empty()) return turns;
  for (const auto& subject : field.subjects) {
    auto why_not = work.unfit(subject->traits());
    if (const auto missing = subject->missing(); missing && !why_not) why_not = "missing: " + *missing;
    turns.push_back({subject->traits(), why_not, [&] { return work.run(*subject, scale); }});
  }
  return turns;
}

int rounds_of(const Workload& work, const Options& options) { return std::min(options.rounds, work.most_rounds); }

std::ptrdiff_t turns_in_all(const Field& field, const Options& options) {
  std::ptrdiff_t all = 0;
  for (const auto& work : field.work)
    all += rounds_of(work, options) *
           std::ranges::count_if(turns_at(work, field, options.scale), [](const Turn& turn) { return !turn.why_not; });
  return all;
}

/// Whatever goes wrong with a subject is told below its table; only an interrupt ends the run.
Result<void> run(const Field& field, const Options& options, Results& results) {
  const auto began = now();
  const auto all = turns_in_all(field, options);
  std::ptrdiff_t done = 0;
  for (const auto& work : field.work) {
    const int rounds = rounds_of(work, options);
    for (int round = 0; round < rounds; ++round)
      for (const auto& turn : turns_at(work, field, options.scale)) {
        if (turn.why_not) {
          results.remark(work, turn.traits, *turn.why_not);
          continue;
        }
        say(began, relay::format("{:3} %  {}, round {} of {}: {}", done++ * 100 / all, work.name, round + 1, rounds,
                                 turn.traits.name));
        const auto outcomes = turn.take();
        if (interrupted()) return fail("interrupted");
        if (outcomes)
          results.add(work, turn.traits, *outcomes);
        else
          results.remark(work, turn.traits, relay::format("round {}: {}", round + 1, outcomes.error().message()));
      }
  }
  say(began, "done\n");
  return {};
}

/// Where and under what it was measured; a disk in memory would make every sync free.
std::string circumstances(const Options& options) {
  struct statfs place{};
  ::statfs(std::filesystem::temp_directory_path().c_str(), &place);
  const std::string_view disk = place.f_type == kTmpfs ? "memory, so syncs are free" : "a disk";
  std::ifstream file{"/proc/loadavg"};
  std::string load;
  file >> load;
  return relay::format("{}; load {} at the end; {} rounds of {} s; {}; files on {}", machine(), load, options.rounds,
                       options.scale.seconds, cores_in_words(), disk);
}

void list(const Field& field) {
  for (const auto& work : field.work) std::printf("work     %-14s %s\n", work.name.c_str(), work.title.c_str());
  for (const auto& work : field.work)
    for (const auto& candidate : work.candidates)
      std::printf("at %-11s%-14s %s\n", work.name.c_str(), candidate.traits.name.c_str(),
                  candidate.traits.title.c_str());
  for (const auto& subject : field.subjects)
    std::printf("subject  %-14s %s\n", subject->traits().name.c_str(), subject->traits().title.c_str());
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
  if (const int code = play_role(argc, argv); code >= 0) return code;
  const auto options = read_options(argc, argv);
  if (!options) return std::fprintf(stderr, "%s\n", options.error().message().c_str()), 2;
  auto field = everything(*options);
  if (const auto chosen = choose(field, *options); !chosen)
    return std::fprintf(stderr, "%s; --list names them\n", chosen.error().message().c_str()), 2;
  if (options->list) {
    list(field);
    return 0;
  }
  raise_descriptor_limit();
  divide(options->cores);
  end_turns_on_interrupt();
  std::vector<Traits> subjects;
  for (const auto& subject : field.subjects) subjects.push_back(subject->traits());
  Results results{field.work, subjects};
  const auto ran = run(field, *options, results);
  const auto where = circumstances(*options);
  std::fputs(table_of(results, where).c_str(), stdout);
  if (!options->markdown_file.empty()) std::ofstream{options->markdown_file} << markdown_of(results, where);
  if (!options->json_file.empty()) std::ofstream{options->json_file} << json_of(results, where) << "\n";
  if (!options->svg_file.empty()) std::ofstream{options->svg_file} << plot_of(results);
  if (!ran) return std::fprintf(stderr, "%s\n", ran.error().message().c_str()), 1;
  return 0;
}
