#include "events/cost_models.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/json.h"

namespace relay::events {
namespace {

constexpr double kMaxPrice = 100'000;  // dollars per million tokens
constexpr double kNone = -1;

struct Price {
  std::string_view model;
  double input;
  double output;
  double cache_read;
  double cache_write;
};

/// As their makers published them in October 2026; where the price depends on the prompt's length, that for short
/// prompts.
constexpr Price kPrices[] = {
    {"claude-fable-5-1", 10, 50, 0.25, 12.5},
    {"claude-fable-5", 10, 50, 1, 12.5},
    {"claude-opus-5-5", 4, 20, 0.2, 5},
    {"claude-opus-5", 5, 25, 0.5, 6.25},
    {"claude-opus-4-8", 5, 25, 0.5, 6.25},
    {"claude-opus-4-7", 5, 25, 0.5, 6.25},
    {"claude-opus-4-6", 5, 25, 0.5, 6.25},
    {"claude-opus-4-5", 5, 25, 0.5, 6.25},
    {"claude-opus-4-1", 15, 75, 1.5, 18.75},
    {"claude-opus-4", 15, 75, 1.5, 18.75},
    {"claude-sonnet-5-5", 2, 10, 0.2, 2.5},
    {"claude-sonnet-5", 2, 10, 0.2, 2.5},
    {"claude-sonnet-4-6", 3, 15, 0.3, 3.75},
    {"claude-sonnet-4-5", 3, 15, 0.3, 3.75},
    {"claude-sonnet-4", 3, 15, 0.3, 3.75},
    {"claude-haiku-5-5", 0.1, 0.5, 0.01, 0.125},
    {"claude-haiku-4-5", 1, 5, 0.1, 1.25},
    {"gpt-6.1-sol", 2, 10, 0.1, kNone},
    {"gpt-6-astra", 10, 50, 1, 12.5},
    {"gpt-6-sol", 2, 10, 0.2, 2.5},
    {"gpt-6-luna", 0.1, 0.5, 0.01, 0.125},
    {"gpt-5.6-sol", 4, 20, 0.4, kNone},
    {"gpt-5.6-terra", 2, 12, 0.2, kNone},
    {"gpt-5.6-luna", 0.2, 1.2, 0.02, kNone},
    {"gpt-5.5", 5, 30, 0.5, kNone},
    {"gpt-5.4", 2.5, 15, 0.25, kNone},
    {"gpt-5.4-mini", 0.75, 4.5, 0.075, kNone},
    {"gpt-5.4-nano", 0.2, 1.25, 0.02, kNone},
    {"gpt-5.3-codex", 1.75, 14, 0.175, kNone},
    {"gpt-5.2", 1.75, 14, 0.175, kNone},
    {"gpt-5.2-codex", 1.75, 14, 0.175, kNone},
    {"gpt-5.1", 1.25, 10, 0.125, kNone},
    {"gpt-5.1-codex", 1.25, 10, 0.125, kNone},
    {"gpt-5.1-codex-max", 1.25, 10, 0.125, kNone},
    {"gpt-5.1-codex-mini", 0.25, 2, 0.025, kNone},
    {"gpt-5", 1.25, 10, 0.125, kNone},
    {"gpt-5-codex", 1.25, 10, 0.125, kNone},
    {"gpt-5-mini", 0.25, 2, 0.025, kNone},
    {"gpt-5-nano", 0.05, 0.4, 0.005, kNone},
    {"gpt-4.1", 2, 8, 0.5, kNone},
    {"gpt-4.1-mini", 0.4, 1.6, 0.1, kNone},
    {"gpt-4o", 2.5, 10, 1.25, kNone},
    {"gpt-4o-mini", 0.15, 0.6, 0.075, kNone},
    {"o3", 2, 8, 0.5, kNone},
    {"o4-mini", 1.1, 4.4, 0.275, kNone},
    {"gemini-3.5-flash", 1.5, 9, 0.15, kNone},
    {"gemini-3.5-flash-lite", 0.3, 2.5, 0.03, kNone},
    {"gemini-3.1-pro", 2, 12, 0.2, kNone},
    {"gemini-3.1-flash-lite", 0.25, 1.5, 0.025, kNone},
    {"gemini-3-pro", 2, 12, 0.2, kNone},
    {"gemini-3-flash", 0.5, 3, 0.05, kNone},
    {"gemini-2.5-pro", 1.25, 10, 0.125, kNone},
    {"gemini-2.5-flash", 0.3, 2.5, 0.03, kNone},
    {"gemini-2.5-flash-lite", 0.1, 0.4, 0.01, kNone},
};

std::optional<double> optional_price(double price) { return price == kNone ? std::nullopt : std::optional{price}; }

bool are_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// The length of a date at the start, as `20250929` or `2025-09-29`; 0 when there is none. A shorter number is not a
/// date but the next model: claude-opus-4-9.
std::size_t date_length(std::string_view text) {
  constexpr std::size_t kPlain = 8, kDashed = 10;
  if (text.size() >= kPlain && are_digits(text.substr(0, kPlain))) return kPlain;
  const bool dashed = text.size() >= kDashed && are_digits(text.substr(0, 4)) && text[4] == '-' &&
                      are_digits(text.substr(5, 2)) && text[7] == '-' && are_digits(text.substr(8, 2));
  return dashed ? kDashed : 0;
}

/// Whether `rest`, after a model's name, is only a date, a version or a mode and does not name another model.
bool is_version_suffix(std::string_view rest) {
  if (rest.empty() || rest.starts_with('@') || rest.starts_with(':') || rest.starts_with('[')) return true;
  if (!rest.starts_with('-')) return false;
  rest.remove_prefix(1);
  if (const auto length = date_length(rest); length > 0) return is_version_suffix(rest.substr(length));
  const auto word = rest.substr(0, rest.find_first_of("-@:["));
  if (word == "latest" || word == "preview" || word == "exp") return true;
  return word.starts_with('v') && are_digits(word.substr(1)) && is_version_suffix(rest.substr(word.size()));
}

Result<void> check_price(std::string_view model, std::string_view name, std::optional<double> price) {
  if (!price || (std::isfinite(*price) && *price >= 0 && *price <= kMaxPrice)) return {};
  return fail(format("{}: \"{}\" must be from 0 to {} dollars", model, name, kMaxPrice));
}

Result<CostModel> read_model(const json::object& object) {
  auto model = RELAY_TRY(schema::read<CostModel>(object, schema::UnknownMembers::Reject));
  RELAY_TRY(check_price(model.model, "inputPer1M", model.input_per_1m));
  RELAY_TRY(check_price(model.model, "outputPer1M", model.output_per_1m));
  RELAY_TRY(check_price(model.model, "cacheReadPer1M", model.cache_read_per_1m));
  RELAY_TRY(check_price(model.model, "cacheWritePer1M", model.cache_write_per_1m));
  return model;
}

/// A list, a list under `models`, or a map from names; returned as a list.
Result<json::array> listed(json::value value) {
  if (auto* list = value.if_array()) return std::move(*list);
  auto* map = value.if_object();
  if (map == nullptr) return fail("it must be a list of models, or a map from their names to their prices");
  if (auto* models = map->if_contains("models"); models != nullptr && models->is_array())
    return std::move(models->as_array());
  json::array list;
  for (auto& [name, prices] : *map) {
    if (auto* object = prices.if_object(); object != nullptr && !object->contains("model")) (*object)["model"] = name;
    list.push_back(std::move(prices));
  }
  return list;
}

}  // namespace

CostModels::CostModels() {
  for (const auto& price : kPrices)
    set({std::string{price.model}, price.input, price.output, optional_price(price.cache_read),
         optional_price(price.cache_write)});
}

void CostModels::set(CostModel model) {
  const auto at = std::ranges::lower_bound(models_, model.model, {}, &CostModel::model);
  if (at != models_.end() && at->model == model.model)
    *at = std::move(model);
  else
    models_.insert(at, std::move(model));
}

Result<CostModels> CostModels::with_file(std::string_view text) const {
  const auto cannot = [](const Error& error) {
    return fail(format("cost-models.json cannot be used: {}", error.message()));
  };
  auto value = parse_json(text);
  if (!value) return cannot(value.error());
  auto list = listed(*std::move(value));
  if (!list) return cannot(list.error());
  if (list->size() > kMaxCostModels)
    return fail(format("cost-models.json cannot be used: it has more than {} models", kMaxCostModels));
  auto models = *this;
  for (std::size_t at = 0; at < list->size(); ++at) {
    const auto* object = (*list)[at].if_object();
    auto model = object == nullptr ? Result<CostModel>{fail("it is not an object")} : read_model(*object);
    if (!model) return fail(format("cost-models.json cannot be used: model {}: {}", at + 1, model.error().message()));
    models.set(*std::move(model));
  }
  return models;
}

const CostModel* CostModels::find(std::string_view model) const {
  const auto best_for = [&](std::string_view name) {
    const CostModel* best = nullptr;
    for (const auto& each : models_)
      if (name.starts_with(each.model) && is_version_suffix(name.substr(each.model.size())) &&
          (best == nullptr || each.model.size() > best->model.size()))
        best = &each;
    return best;
  };
  if (const auto* found = best_for(model)) return found;
  // `anthropic/claude-…`, `us.anthropic.claude-…`: the maker is not part of the name.
  if (const auto slash = model.rfind('/'); slash != std::string_view::npos)
    if (const auto* found = best_for(model.substr(slash + 1))) return found;
  constexpr std::string_view kOnBedrock = "anthropic.";
  const auto maker = model.find(kOnBedrock);
  return maker == std::string_view::npos ? nullptr : best_for(model.substr(maker + kOnBedrock.size()));
}

}  // namespace relay::events
