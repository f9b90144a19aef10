/// cost_paths list                       prints the names of the paths
/// cost_paths run PATH                   runs it twice, the second time in counted(), and prints the number of units
/// cost_paths compare RECORDED           reads measurements from stdin; exit code 1 if a path costs too much
/// cost_paths record RECORDED            reads measurements from stdin and records them
///
/// The script `run` in this folder combines them.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>

#include "base/format.h"
#include "comparison.h"
#include "counted.h"

namespace {

using namespace relay;
using namespace relay::cost;

constexpr int kSkipped = 77;

std::string built() { return RELAY_COST_BUILT; }

std::string all_of(std::istream& in) { return {std::istreambuf_iterator<char>{in}, {}}; }

int list() {
  for (const auto& path : paths()) std::puts(std::string{path.name}.c_str());
  return 0;
}

Result<int> run(std::string_view name) {
  const auto* path = find_path(name);
  if (path == nullptr) return fail(format("unknown path '{}'", name));
  auto work = path->prepare();
  (void)work();  // warms up buffers and caches
  std::puts(std::to_string(counted(work)).c_str());
  return 0;
}

Result<int> record(const std::string& file) {
  const Recorded recorded{built(), RELAY_TRY(read_measured(all_of(std::cin)))};
  std::ofstream out{file};
  out << write_recorded(paths(), recorded);
  if (!out.flush()) return fail(format("cannot write {}", file));
  std::puts(format("recorded in {}", file).c_str());
  return 0;
}

Result<int> compare_measured(const std::string& file) {
  std::ifstream in{file};
  const auto recorded = RELAY_TRY(read_recorded(all_of(in)));
  const auto comparison = compare(paths(), RELAY_TRY(read_measured(all_of(std::cin))), recorded.counts);
  std::fputs(comparison.table.c_str(), stdout);
  if (recorded.built != built()) {
    std::puts(format("recorded with {}, this is {}: not compared", recorded.built, built()).c_str());
    return kSkipped;
  }
  for (const auto& message : comparison.improvements) std::puts(message.c_str());
  for (const auto& message : comparison.regressions) std::puts(message.c_str());
  return comparison.regressions.empty() ? 0 : 1;
}

Result<int> dispatch(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (argc == 2 && command == "list") return list();
  if (argc == 3 && command == "run") return run(argv[2]);
  if (argc == 3 && command == "record") return record(argv[2]);
  if (argc == 3 && command == "compare") return compare_measured(argv[2]);
  return fail("usage: cost_paths list | run PATH | compare RECORDED | record RECORDED");
}

}  // namespace

int main(int argc, char** argv) {
  const auto code = dispatch(argc, argv);
  if (code) return *code;
  std::fprintf(stderr, "%s\n", code.error().message().c_str());
  return 2;
}
