/// cost_paths list                       the names of the paths
/// cost_paths run PATH                   does it twice, the second time in counted(), and prints how many units that were
/// cost_paths judge RECORDED             what was measured comes in on stdin; 1 when a path costs too much
/// cost_paths record RECORDED            writes it down instead
///
/// `run` in this folder brings them together.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>

#include "base/format.h"
#include "counted.h"
#include "judge.h"

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
  if (path == nullptr) return fail(format("there is no path '{}'", name));
  auto work = path->prepare();
  (void)work();  // buffers grow, caches fill
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

Result<int> judge_measured(const std::string& file) {
  std::ifstream in{file};
  const auto recorded = RELAY_TRY(read_recorded(all_of(in)));
  const auto verdict = judge(paths(), RELAY_TRY(read_measured(all_of(std::cin))), recorded.counts);
  std::fputs(verdict.table.c_str(), stdout);
  if (recorded.built != built()) {
    std::puts(format("recorded with {}, this is {}: not compared", recorded.built, built()).c_str());
    return kSkipped;
  }
  for (const auto& sentence : verdict.remarks) std::puts(sentence.c_str());
  for (const auto& sentence : verdict.complaints) std::puts(sentence.c_str());
  return verdict.complaints.empty() ? 0 : 1;
}

Result<int> obey(int argc, char** argv) {
  const std::string_view wish = argc > 1 ? argv[1] : "";
  if (argc == 2 && wish == "list") return list();
  if (argc == 3 && wish == "run") return run(argv[2]);
  if (argc == 3 && wish == "record") return record(argv[2]);
  if (argc == 3 && wish == "judge") return judge_measured(argv[2]);
  return fail("usage: cost_paths list | run PATH | judge RECORDED | record RECORDED");
}

}  // namespace

int main(int argc, char** argv) {
  const auto code = obey(argc, argv);
  if (code) return *code;
  std::fprintf(stderr, "%s\n", code.error().message().c_str());
  return 2;
}
