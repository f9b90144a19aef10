#include "report/svg.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "report/numbers.h"

namespace relay::bench {
namespace {

constexpr int kColumns = 2, kPageWidth = 1040, kMargin = 24, kHeaderHeight = 56;
constexpr int kPlotWidth = (kPageWidth - kMargin * (kColumns + 1)) / kColumns;
constexpr int kLabelWidth = 190, kValueWidth = 92, kRowHeight = 19, kTitleHeight = 30, kGap = 22, kCurveHeight = 170;
constexpr int kBarWidth = kPlotWidth - kLabelWidth - kValueWidth;

constexpr std::string_view kStyle = R"(<style>
  svg { font: 12px system-ui, sans-serif; }
  .page { fill: #ffffff; } text { fill: #1f2328; } .muted { fill: #59636e; }
  .head { font-size: 17px; font-weight: 600; } .title { font-weight: 600; }
  .own { fill: #1f6feb; } .other { fill: #9aa4af; } .floor { fill: #d0d7de; }
  .mark { stroke: #1f2328; stroke-width: 1.5; } .axis { stroke: #d0d7de; }
  .curve { fill: none; stroke: #1f6feb; stroke-width: 2; }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117; } text { fill: #e6edf3; } .muted { fill: #9198a1; }
    .own { fill: #4493f8; } .other { fill: #6e7681; } .floor { fill: #3d444d; }
    .mark { stroke: #e6edf3; } .axis { stroke: #3d444d; } .curve { stroke: #4493f8; }
  }
</style>
)";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else
      out += c;
  }
  return out;
}

enum class Anchor { Start, Middle, End };

std::string text_at(double x, double y, std::string_view text, std::string_view style, Anchor anchor = Anchor::Start) {
  constexpr std::string_view kNames[] = {"start", "middle", "end"};
  return relay::format("<text x=\"{:.0f}\" y=\"{:.0f}\" class=\"{}\" text-anchor=\"{}\">{}</text>\n", x, y, style,
                       kNames[static_cast<int>(anchor)], escaped(text));
}

std::string_view style_of(Kind kind) {
  switch (kind) {
    case Kind::Floor: return "floor";
    case Kind::Own: return "own";
    case Kind::Other: return "other";
  }
  return "";
}

/// From the power of ten below the smallest value to the largest.
struct LogScale {
  double low = 0, high = 1;

  explicit LogScale(const std::vector<Bar>& bars) {
    double min = 1e300, max = 0;
    for (const auto& bar : bars) {
      min = std::min(min, bar.value);
      max = std::max({max, bar.value, bar.mark.value_or(0)});
    }
    low = std::floor(std::log10(std::max(min, 1e-3)) - 0.2);
    high = std::max(low + 1, std::log10(std::max(max, 1e-3)));
  }
  [[nodiscard]] double width(double value) const {
    return std::clamp((std::log10(std::max(value, 1e-3)) - low) / (high - low), 0.0, 1.0) * kBarWidth;
  }
};

std::string draw(const BarPlot& plot, int left, int top) {
  auto text = text_at(left, top + 14, relay::format("{} ({})", plot.title, plot.unit), "title");
  const LogScale scale{plot.bars};
  int y = top + kTitleHeight;
  const int from = left + kLabelWidth;
  for (const auto& bar : plot.bars) {
    const auto width = scale.width(bar.value), end = std::max(width, bar.mark ? scale.width(*bar.mark) : 0.0);
    text += text_at(from - 8, y + 10, bar.label, bar.kind == Kind::Own ? "title" : "muted", Anchor::End);
    text += relay::format("<rect x=\"{}\" y=\"{}\" width=\"{:.1f}\" height=\"12\" rx=\"2\" class=\"{}\"/>\n", from, y,
                          std::max(width, 1.0), style_of(bar.kind));
    if (bar.mark)
      text += relay::format("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\" class=\"mark\"/>\n",
                            from + scale.width(*bar.mark), y, y + 12);
    const auto values =
        bar.mark ? relay::format("{} | {}", short_number(bar.value), short_number(*bar.mark)) : short_number(bar.value);
    text += text_at(from + end + 6, y + 10, values, "muted");
    y += kRowHeight;
  }
  return text;
}

std::string draw(const Curve& curve, int left, int top) {
  auto text = text_at(left, top + 14, relay::format("{} ({})", curve.title, curve.unit), "title");
  const double base = top + kCurveHeight - 24, height = kCurveHeight - 80;
  double max = 1e-9;
  for (const auto& point : curve.points) max = std::max(max, point.value);
  const auto x_of = [&](std::size_t i) {
    return left + 40 +
           (kPlotWidth - 80) * static_cast<double>(i) /
               static_cast<double>(std::max<std::size_t>(1, curve.points.size() - 1));
  };
  const auto y_of = [&](double value) { return base - value / max * height; };
  text += relay::format("<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" class=\"axis\"/>\n", left,
                        left + kPlotWidth, base);
  std::string line;
  for (std::size_t i = 0; i < curve.points.size(); ++i)
    line += relay::format("{:.1f},{:.1f} ", x_of(i), y_of(curve.points[i].value));
  text += relay::format("<polyline points=\"{}\" class=\"curve\"/>\n", line);
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const auto& point = curve.points[i];
    text +=
        relay::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" class=\"own\"/>\n", x_of(i), y_of(point.value));
    text += text_at(x_of(i), y_of(point.value) - 9, short_number(point.value), "title", Anchor::Middle);
    // The first and last labels stay inside the plot.
    if (i == 0)
      text += text_at(left, base + 16, point.label, "muted");
    else if (i + 1 == curve.points.size())
      text += text_at(left + kPlotWidth, base + 16, point.label, "muted", Anchor::End);
    else
      text += text_at(x_of(i), base + 16, point.label, "muted", Anchor::Middle);
  }
  return text;
}

int height_of(const BarPlot& plot) { return kTitleHeight + static_cast<int>(plot.bars.size()) * kRowHeight + kGap; }
int height_of(const Curve&) { return kCurveHeight + kGap; }

/// Plots side by side; each row is as high as its highest plot.
template <class Plot>
void draw_all(std::string& text, const std::vector<Plot>& plots, int& y) {
  for (std::size_t i = 0; i < plots.size(); i += kColumns) {
    int height = 0;
    for (std::size_t column = 0; column < kColumns && i + column < plots.size(); ++column) {
      text += draw(plots[i + column], kMargin + static_cast<int>(column) * (kPlotWidth + kMargin), y);
      height = std::max(height, height_of(plots[i + column]));
    }
    y += height;
  }
}

}  // namespace

std::string svg_page(const std::string& title, const std::vector<BarPlot>& plots, const std::vector<Curve>& curves) {
  std::string content = text_at(kMargin, 34, title, "head");
  int y = kHeaderHeight;
  draw_all(content, plots, y);
  draw_all(content, curves, y);
  return relay::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\">\n{2}"
      "<rect class=\"page\" width=\"{0}\" height=\"{1}\"/>\n{3}</svg>\n",
      kPageWidth, y, kStyle, content);
}

}  // namespace relay::bench
