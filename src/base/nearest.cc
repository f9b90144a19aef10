#include "base/nearest.h"

#include <algorithm>
#include <array>
#include <utility>

namespace relay {
namespace {

constexpr std::size_t kMaxComparedBytes = 128;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// The edits allowed: one in a short name, three in a long one.
std::size_t allowed_edits(std::string_view name) { return std::clamp<std::size_t>(name.size() / 3, 1, 3); }

/// Edit distance with swapped neighbours, or max_edits + 1 as soon as it must be more. Only a band of 2·max_edits + 1
/// cells per row is computed, so the cost grows with the length and not with its square.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t max_edits) {
  const std::size_t far = max_edits + 1;
  if ((a.size() > b.size() ? a.size() - b.size() : b.size() - a.size()) > max_edits) return far;
  using Row = std::array<std::size_t, kMaxComparedBytes + 1>;
  std::array<Row, 3> rows;
  for (auto& row : rows) row.fill(far);
  for (std::size_t j = 0; j <= std::min(max_edits, b.size()); ++j) rows[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    const Row& before = rows[(i - 1) % 3];
    const Row& two_before = rows[(i + 1) % 3];
    Row& row = rows[i % 3];
    row.fill(far);
    if (i <= max_edits) row[0] = i;
    std::size_t best = row[0];
    const std::size_t from = i > max_edits ? i - max_edits : 1;
    for (std::size_t j = from; j <= std::min(b.size(), i + max_edits); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      std::size_t edits = std::min({before[j] + 1, row[j - 1] + 1, before[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1])) {
        edits = std::min(edits, two_before[j - 2] + 1);
      }
      row[j] = std::min(edits, far);
      best = std::min(best, row[j]);
    }
    if (best > max_edits) return far;
  }
  return rows[a.size() % 3][b.size()];
}

}  // namespace

std::vector<std::string_view> nearest_names(std::string_view mistyped, const std::vector<std::string_view>& known,
                                            std::size_t max_names) {
  if (mistyped.empty() || mistyped.size() > kMaxComparedBytes) return {};
  const std::size_t allowed = allowed_edits(mistyped);
  std::vector<std::pair<std::size_t, std::string_view>> near;
  std::size_t compared = 0;
  for (const std::string_view name : known) {
    if (name.size() > kMaxComparedBytes || name == mistyped) continue;
    if (++compared > kMaxNamesCompared) break;
    const std::size_t edits = edit_distance(mistyped, name, allowed);
    if (edits <= allowed) near.emplace_back(edits, name);
  }
  std::sort(near.begin(), near.end());
  if (near.size() > max_names) near.resize(max_names);
  std::vector<std::string_view> names;
  names.reserve(near.size());
  for (const auto& [edits, name] : near) names.push_back(name);
  return names;
}

}  // namespace relay
