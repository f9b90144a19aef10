/// What models cost: the prices of the program, and those of `cost-models.json` in the home instead or besides.
#pragma once

#include <string>

#include "events/cost_models.h"
#include "records/events.h"

namespace relay::daemon {

/// A file that cannot be used is logged and passed over.
events::CostModels load_prices(const std::string& path);

/// Prices usage by the file as it is at each call, as the costs of the API do.
records::PriceOf price_by(const std::string& path);

}  // namespace relay::daemon
