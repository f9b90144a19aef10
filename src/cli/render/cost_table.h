/// Token usage and cost as a table.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "cli/render/text.h"
#include "events/costs.h"

namespace relay::cli {

/// The highest cost first, and the total at the end. `columns` is the width of the terminal; 0: no limit.
std::string cost_table(std::string_view by, const std::map<std::string, events::CostBreakdown>& groups,
                       const events::CostBreakdown& total, const Styler& paint, std::size_t columns = 0);

/// `1,234`, `56.7 k`, `8.9 M`.
std::string short_count(std::int64_t count);

}  // namespace relay::cli
