/// A page of small plots as SVG text: bars on a logarithmic scale, and curves. Pure: values in, text out.
///
/// Why not a library: the page is a few rectangles and labels, and it follows the reader's light or dark theme.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace relay::bench {

enum class Kind { Floor, Own, Other };

struct Bar {
  std::string label;
  double value = 0;
  std::optional<double> mark = {};  // a second value, as a thin line: the p99
  Kind kind = Kind::Other;
};

struct BarPlot {
  std::string title;
  std::string unit;
  std::vector<Bar> bars;  // drawn in this order
};

struct Point {
  std::string label;
  double value = 0;
};

struct Curve {
  std::string title;
  std::string unit;
  std::vector<Point> points;  // at equal distances; the scale starts at 0, so a constant looks flat
};

std::string svg_page(const std::string& title, const std::vector<BarPlot>& plots, const std::vector<Curve>& curves);

}  // namespace relay::bench
