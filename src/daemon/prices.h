/// The prices of models: the built-in ones, overridden or extended by `cost-models.json` in the relay home
/// (`~/.agent-relay`). An unusable file is logged and ignored.
#pragma once

#include <string>

#include "events/cost_models.h"
#include "records/events.h"

namespace relay::daemon {

/// An unusable file is logged and ignored.
events::CostModels load_prices(const std::string& path);

/// Prices usage by the current content of the file at each call, like the costs of the API.
records::PriceOf price_by(const std::string& path);

}  // namespace relay::daemon
