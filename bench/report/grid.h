/// Tables as values: cells of text, to be written for a terminal or for a page.
#pragma once

#include <string>
#include <vector>

#include "report/results.h"

namespace relay::bench {

/// The first column is words, the others are numbers.
struct Grid {
  std::string title;
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> remarks;  // below it
};

/// One for each kind of work and each of its variants; the variants of work about one subject alone are rows of one.
std::vector<Grid> grids_of(const Results& results);

std::string as_text(const Grid& grid);
std::string as_markdown(const Grid& grid);

}  // namespace relay::bench
