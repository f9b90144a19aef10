#include "cli/bench/results.h"

#include "base/format.h"
#include "base/quantile.h"
#include "cli/render/text.h"
#include "text/json_writer.h"

namespace relay::cli {
namespace {

struct Percentile {
  std::string_view title, key;
  double value;
};
constexpr Percentile kPercentiles[] = {{"P50", "p50", 0.5}, {"P99", "p99", 0.99}, {"P99.9", "p999", 0.999}};

double ratio(double value, double base) { return base > 0 ? value / base : 0; }

std::string time_of(double us) {
  return us < 1'000 ? relay::format("{:.0f} {}s", us, marks().micro) : relay::format("{:.1f} ms", us / 1'000);
}

void add_row(Table& columns, std::string title, const std::vector<double>& us) {
  std::vector<std::string> row{std::move(title)};
  for (const auto& percentile : kPercentiles) row.push_back(time_of(quantile(us, percentile.value)));
  columns.add(std::move(row));
}

void add_quantiles(text::JsonWriter& object, std::string_view key, const std::vector<double>& us) {
  object.begin_object(key);
  for (const auto& percentile : kPercentiles) object.field(percentile.key, quantile(us, percentile.value));
  object.end();
}

std::string durability_text(std::string_view durability) {
  if (durability == "power") return "accepted messages survive a power cut";
  if (durability == "process") return "accepted messages survive a process crash";
  return "messages are lost when the daemon stops";
}

}  // namespace

void Measurement::add(const Measurement& more) {
  messages += more.messages;
  seconds += more.seconds;
  delivered_us.insert(delivered_us.end(), more.delivered_us.begin(), more.delivered_us.end());
  accepted_us.insert(accepted_us.end(), more.accepted_us.begin(), more.accepted_us.end());
}

double Measurement::per_second() const { return ratio(static_cast<double>(messages), seconds); }

double BenchResults::latency_ratio() const {
  return ratio(quantile(single.delivered_us, 0.5), quantile(raw_single.delivered_us, 0.5));
}

double BenchResults::rate_ratio() const { return ratio(many.per_second(), raw_many.per_second()); }

std::string json_of(const BenchResults& measured) {
  text::JsonWriter object;
  object.begin_object("storage").field("driver", measured.storage).optional("durability", measured.durability).end();
  object.field("size", measured.bytes);
  object.begin_object("single").field("messages", measured.single.messages);
  add_quantiles(object, "deliveredUs", measured.single.delivered_us);
  add_quantiles(object, "acceptedUs", measured.single.accepted_us);
  add_quantiles(object, "forwarderUs", measured.raw_single.delivered_us);
  object.field("ratio", measured.latency_ratio()).end();
  object.begin_object("many").field("messages", measured.many.messages).field("window", measured.window);
  object.field("perSecond", measured.many.per_second());
  object.field("forwarderPerSecond", measured.raw_many.per_second());
  object.field("ratio", measured.rate_ratio()).end();
  return object.take();
}

std::string text_of(const BenchResults& measured, const Styler& paint) {
  auto text = relay::format("{}: {}; messages of {} bytes\n\n", sanitize(measured.storage, Lines::Join),
                            durability_text(measured.durability), measured.bytes);
  std::vector<std::string> header{relay::format("ONE BY ONE ({})", measured.single.messages)};
  for (const auto& percentile : kPercentiles) header.emplace_back(percentile.title);
  Table times{std::move(header)};
  add_row(times, "delivered", measured.single.delivered_us);
  add_row(times, "accepted", measured.single.accepted_us);
  add_row(times, "raw forwarder", measured.raw_single.delivered_us);
  text += times.text(paint);
  text += relay::format("delivery takes {:.1f} times as long as through a raw forwarder (medians)\n\n",
                        measured.latency_ratio());
  Table rates{{relay::format("{} IN FLIGHT ({})", measured.window, measured.many.messages), "MESSAGES/S"}};
  rates.add({"through the daemon", relay::format("{:.0f}", measured.many.per_second())});
  rates.add({"raw forwarder", relay::format("{:.0f}", measured.raw_many.per_second())});
  text += rates.text(paint);
  text += relay::format("{:.3f} of the rate of a raw forwarder\n", measured.rate_ratio());
  return text;
}

}  // namespace relay::cli
