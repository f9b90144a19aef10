/// Tables as values, to be written as plain text or Markdown.
#pragma once

#include <string>
#include <vector>

#include "report/results.h"

namespace relay::bench {

/// The first column is text, the others are numbers.
struct Grid {
  std::string title;
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> notes;  // below the table
};

/// One table per workload and variant. A workload of one subject has one table with its variants as rows.
std::vector<Grid> grids_of(const Results& results);

std::string as_text(const Grid& grid);
std::string as_markdown(const Grid& grid);

}  // namespace relay::bench
