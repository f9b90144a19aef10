#include "base/nearest.h"

#include <algorithm>
#include <array>
#include <utility>

namespace relay {
namespace {

constexpr std::size_t kMaxComparedBytes = 128;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Slips forgiven: one in a short name, three in a long one.
std::size_t slips_allowed(std::string_view wanted) { return std::clamp<std::size_t>(wanted.size() / 3, 1, 3); }

/// Edit distance with swapped neighbours, or most + 1 as soon as it must be more. Only a band of 2·most + 1 cells per
/// row is looked at, so the cost grows with the length and not with its square.
std::size_t slips_between(std::string_view a, std::string_view b, std::size_t most) {
  const std::size_t far = most + 1;
  if ((a.size() > b.size() ? a.size() - b.size() : b.size() - a.size()) > most) return far;
  using RowOfSlips = std::array<std::size_t, kMaxComparedBytes + 1>;
  std::array<RowOfSlips, 3> rows;
  for (auto& row : rows) row.fill(far);
  for (std::size_t j = 0; j <= std::min(most, b.size()); ++j) rows[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    const RowOfSlips& before = rows[(i - 1) % 3];
    const RowOfSlips& two_before = rows[(i + 1) % 3];
    RowOfSlips& row = rows[i % 3];
    row.fill(far);
    if (i <= most) row[0] = i;
    std::size_t best = row[0];
    const std::size_t from = i > most ? i - most : 1;
    for (std::size_t j = from; j <= std::min(b.size(), i + most); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      std::size_t slips = std::min({before[j] + 1, row[j - 1] + 1, before[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1])) {
        slips = std::min(slips, two_before[j - 2] + 1);
      }
      row[j] = std::min(slips, far);
      best = std::min(best, row[j]);
    }
    if (best > most) return far;
  }
  return rows[a.size() % 3][b.size()];
}

}  // namespace

std::vector<std::string_view> nearest_names(std::string_view wanted, const std::vector<std::string_view>& known,
                                            std::size_t most) {
  if (wanted.empty() || wanted.size() > kMaxComparedBytes) return {};
  const std::size_t allowed = slips_allowed(wanted);
  std::vector<std::pair<std::size_t, std::string_view>> near;
  std::size_t compared = 0;
  for (const std::string_view name : known) {
    if (name.size() > kMaxComparedBytes || name == wanted) continue;
    if (++compared > kMaxNamesCompared) break;
    const std::size_t slips = slips_between(wanted, name, allowed);
    if (slips <= allowed) near.emplace_back(slips, name);
  }
  std::sort(near.begin(), near.end());
  if (near.size() > most) near.resize(most);
  std::vector<std::string_view> names;
  names.reserve(near.size());
  for (const auto& [slips, name] : near) names.push_back(name);
  return names;
}

}  // namespace relay
