/// relay_bench PROGRAM [options]: measures the daemon and other servers on the same workloads in one run. See
/// README.md.
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
  add_raw_forwarder(field.subjects);
  add_agent_relay(field.subjects, options.scale.program);
  add_nats(field.subjects);
  add_redis(field.subjects);
  add_mosquitto(field.subjects);
  add_zeromq(field.subjects);
  add_relay_1x(field.subjects);
  field.work = all_work();
  return field;
}

/// Keeps the requested workloads and subjects; no names mean all. An unknown name is an error.
Result<void> choose(Field& field, const Options& options) {
  for (const auto& name : options.only)
    if (std::ranges::find(field.work, name, &Workload::name) == field.work.end())
      return fail("no workload named " + name);
  for (const auto& name : options.subjects)
    if (std::ranges::none_of(field.subjects, [&](const auto& each) { return each->traits().name == name; }))
      return fail("no subject named " + name);
  const auto is_excluded = [](const std::set<std::string>& names, const std::string& name) {
    return !names.empty() && !names.contains(name);
  };
  std::erase_if(field.work, [&](const Workload& work) { return is_excluded(options.only, work.name); });
  std::erase_if(field.subjects, [&](const auto& each) { return is_excluded(options.subjects, each->traits().name); });
  return {};
}

void print_status(SteadyTime started, const std::string& text) {
  const bool terminal = ::isatty(2) != 0;
  std::fprintf(stderr, "%s%5.0f s  %s%s", terminal ? "\r\033[K" : "", seconds_since(started), text.c_str(),
               terminal ? "" : "\n");
}

/// One run of a workload on a subject.
struct Run {
  Traits traits;
  std::optional<std::string> skip_reason;  // set when the subject cannot run it
  std::function<Result<std::vector<Outcome>>()> execute;
};

std::vector<Run> runs_of(const Workload& work, const Field& field, const Scale& scale) {
  std::vector<Run> runs;
  for (const auto& candidate : work.candidates)
    runs.push_back({candidate.traits, std::nullopt, [&] { return candidate.run(scale); }});
  if (!runs.empty()) return runs;
  for (const auto& subject : field.subjects) {
    auto skip_reason = work.unfit_reason(subject->traits());
    if (const auto missing = subject->missing(); missing && !skip_reason) skip_reason = "missing: " + *missing;
    runs.push_back({subject->traits(), skip_reason, [&] { return work.run(*subject, scale); }});
  }
  return runs;
}

int rounds_of(const Workload& work, const Options& options) { return std::min(options.rounds, work.max_rounds); }

std::ptrdiff_t total_runs(const Field& field, const Options& options) {
  std::ptrdiff_t all = 0;
  for (const auto& work : field.work)
    all += rounds_of(work, options) * std::ranges::count_if(runs_of(work, field, options.scale),
                                                            [](const Run& each) { return !each.skip_reason; });
  return all;
}

/// An error of a subject becomes a note below its table. Only an interrupt stops the run.
Result<void> run(const Field& field, const Options& options, Results& results) {
  const auto started = now();
  const auto all = total_runs(field, options);
  std::ptrdiff_t done = 0;
  for (const auto& work : field.work) {
    const int rounds = rounds_of(work, options);
    for (int round = 0; round < rounds; ++round)
      for (const auto& each : runs_of(work, field, options.scale)) {
        if (each.skip_reason) {
          results.add_note(work, each.traits, *each.skip_reason);
          continue;
        }
        print_status(started, relay::format("{:3} %  {}, round {} of {}: {}", done++ * 100 / all, work.name, round + 1,
                                            rounds, each.traits.name));
        const auto outcomes = each.execute();
        if (interrupted()) return fail("interrupted");
        if (outcomes)
          results.add(work, each.traits, *outcomes);
        else
          results.add_note(work, each.traits, relay::format("round {}: {}", round + 1, outcomes.error().message()));
      }
  }
  print_status(started, "done\n");
  return {};
}

/// The conditions of the run. On a memory file system every sync is free.
std::string circumstances(const Options& options) {
  struct statfs filesystem{};
  ::statfs(std::filesystem::temp_directory_path().c_str(), &filesystem);
  const std::string_view disk = filesystem.f_type == kTmpfs ? "memory, so syncs are free" : "a disk";
  std::ifstream file{"/proc/loadavg"};
  std::string load;
  file >> load;
  return relay::format("{}; load {} at the end; {} rounds of {} s; {}; files on {}", machine(), load, options.rounds,
                       options.scale.seconds, describe_cores(), disk);
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

/// Thousands of connections need many descriptors, here and in the servers.
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
    return std::fprintf(stderr, "%s; see --list\n", chosen.error().message().c_str()), 2;
  if (options->list) {
    list(field);
    return 0;
  }
  raise_descriptor_limit();
  divide(options->cores);
  stop_on_interrupt();
  std::vector<Traits> subjects;
  for (const auto& subject : field.subjects) subjects.push_back(subject->traits());
  Results results{field.work, subjects};
  const auto ran = run(field, *options, results);
  const auto conditions = circumstances(*options);
  std::fputs(table_of(results, conditions).c_str(), stdout);
  if (!options->markdown_file.empty()) std::ofstream{options->markdown_file} << markdown_of(results, conditions);
  if (!options->json_file.empty()) std::ofstream{options->json_file} << json_of(results, conditions) << "\n";
  if (!options->svg_file.empty()) std::ofstream{options->svg_file} << plot_of(results);
  if (!ran) return std::fprintf(stderr, "%s\n", ran.error().message().c_str()), 1;
  return 0;
}
