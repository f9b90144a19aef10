#include "base/format.h"
#include "report/grid.h"
#include "report/results.h"

namespace relay::bench {

std::string table_of(const Results& results, const std::string& circumstances) {
  auto text = circumstances + "\n";
  for (const auto& grid : grids_of(results)) text += as_text(grid);
  text += "\nWhat the subjects are:\n";
  for (const auto& subject : results.subjects()) text += relay::format("  {:26} {}\n", subject.title, subject.note);
  for (const auto& work : results.work())
    for (const auto& candidate : work.candidates)
      if (!candidate.traits.note.empty())
        text += relay::format("  {:26} {}: {}\n", candidate.traits.title, work.name, candidate.traits.note);
  return text;
}

std::string markdown_of(const Results& results, const std::string& circumstances) {
  auto text = relay::format(
      "# Figures\n\nWritten by `relay_bench --markdown`; benchmarks.md says what the words mean. {}.\n\n"
      "| subject | its name for `--subjects` | promise | note |\n|---|---|---|---|\n",
      circumstances);
  for (const auto& subject : results.subjects())
    text += relay::format("| {} | `{}` | {} | {} |\n", subject.title, subject.name, title_of(subject.promise),
                          subject.note);
  for (const auto& work : results.work())
    for (const auto& candidate : work.candidates)
      if (!candidate.traits.note.empty())
        text += relay::format("| {} | at `{}` | - | {} |\n", candidate.traits.title, work.name, candidate.traits.note);
  for (const auto& grid : grids_of(results)) text += as_markdown(grid);
  return text;
}

}  // namespace relay::bench
