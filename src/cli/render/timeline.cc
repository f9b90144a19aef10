#include "cli/render/timeline.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/format.h"
#include "cli/render/text.h"
#include "cli/render/times.h"
#include "cli/wire/json_fields.h"
#include "cli/wire/message.h"
#include "protocol/control.h"
#include "protocol/send.h"

namespace relay::cli {
namespace {

constexpr Millis kNoticeable{1'000};       // a pause that gets a separate line
constexpr std::size_t kDetailIndent = 31;  // where states begin
constexpr std::size_t kStateColumns = 10;
constexpr std::size_t kNarrow = 64;  // below that, details begin at the left

struct Glyphs {
  std::string_view dot, open, rule, end, arrow;
};
constexpr Glyphs kDrawn{"●", "○", "│", "╰─", "→"};
constexpr Glyphs kTyped{"*", "o", "|", "`-", "->"};
const Glyphs& glyphs_of(const RenderContext& render) { return render.unicode ? kDrawn : kTyped; }

Color color_of(std::string_view state) {
  if (state == "delivered") return Color::Green;
  if (state == "failed" || state == "dead" || state == "expired") return Color::Red;
  if (state == "in_doubt" || state == "deferred") return Color::Yellow;
  return Color::Plain;
}

std::string since_sent(WallMs at, const json::object& message, const RenderContext& render) {
  const auto from = display_field(message, "from");
  return relay::format("{} after {} sent it",
                       fine_duration(Millis{std::max<WallMs>(0, at - time_in(message, "timestamp"))}),
                       from == render.reader ? "you" : from);
}

/// The time of its last history entry.
WallMs settled_at(const json::object& delivery) {
  const auto history = objects_in(delivery, "history");
  return history.empty() ? 0 : time_in(*history.back(), "at");
}

std::string last_reason(const json::object& delivery) {
  const auto history = objects_in(delivery, "history");
  for (auto place = history.rbegin(); place != history.rend(); ++place)
    if (auto reason = display_field(**place, "reason"); !reason.empty()) return reason;
  return "";
}

std::string attempts_of(const json::object& delivery) {
  const auto attempts = integer_member(delivery, "attempts").value_or(0);
  return attempts <= 0 ? "" : attempts == 1 ? "1 failed attempt" : relay::format("{} failed attempts", attempts);
}

std::string pending_text(const json::object& delivery, const RenderContext& render) {
  const auto to = display_field(delivery, "to");
  std::string reason;
  if (const auto since = time_in(delivery, "offlineSince"); since > 0)
    reason = relay::format("{} is offline since {}", to, short_clock(since, render.now));
  if (reason.empty()) reason = display_field(delivery, "pendingReason");
  if (reason.empty()) reason = last_reason(delivery);
  if (reason.empty())
    reason = display_field(delivery, "state") == "accepted"
                 ? relay::format("{}'s session has it but has not delivered it yet", to)
                 : relay::format("{} has not accepted it yet", to);
  auto text = "pending: " + reason;
  if (const auto next = time_in(delivery, "availableAt"); next > 0)
    text += next > render.now ? relay::format("; next attempt at {}, in {}", short_time(next, render.now),
                                              short_duration(Millis{next - render.now}))
                              : "; next attempt now";
  if (const auto attempts = attempts_of(delivery); !attempts.empty()) text += relay::format(" ({} so far)", attempts);
  return text;
}

std::string delivered_text(const json::object& delivery, const json::object& message, const RenderContext& render) {
  const auto to = display_field(delivery, "to"), proof = display_field(delivery, "proof");
  const auto when = since_sent(settled_at(delivery), message, render);
  if (last_reason(delivery) == protocol::kReadInInbox) return relay::format("{} read it with `inbox` {}", to, when);
  if (proof == "seen") return relay::format("{}'s agent saw it {}", to, when);
  if (proof == "submitted")
    return relay::format("it was submitted to {}'s agent {}; no evidence that the model read it", to, when);
  if (proof == "written") return relay::format("it was written to {} {}; no more evidence", to, when);
  return relay::format("{} received it {}", to, when);
}

/// The first line of the body, which may be long.
std::string first_line(std::string_view body) {
  while (body.starts_with('\n') || body.starts_with('\r')) body.remove_prefix(1);
  const auto end = body.find('\n');
  return sanitize(body.substr(0, end), Lines::Join) +
         (end == std::string_view::npos || end + 1 == body.size() ? "" : relay::format(" {}", marks().ellipsis));
}

class Drawing {
 public:
  explicit Drawing(const RenderContext& render) : render_{render}, glyphs_{glyphs_of(render)} {}

  void head(const json::object& raw) {
    const auto message = message_from(raw);
    const auto name = [&](std::string_view who) { return render_.paint.name(sanitize(who, Lines::Join)); };
    const bool as_user = string_member(raw, "as") == protocol::kAsUser;
    const auto line = relay::format(
        "{}  {} {} {}  {}{}{}{}\n", render_.paint(Color::Dim, sanitize(message.id, Lines::Join)), name(message.from),
        glyphs_.arrow, name(message.to), render_.paint(Color::Dim, short_time(message.timestamp, render_.now)),
        as_user ? render_.paint(Color::Dim, "  as the user") : std::string{},
        message.reply_to.empty()
            ? std::string{}
            : render_.paint(Color::Dim, "  in reply to " + sanitize(message.reply_to, Lines::Join)),
        message.importance ? render_.paint(Color::Dim, relay::format("  importance {}", *message.importance))
                           : std::string{});
    text_ += fold(line, render_.columns);
    text_ +=
        relay::format("  {}\n", render_.paint(Color::Bold, truncate(first_line(message.body), render_.columns - 2)));
  }

  void delivery(const json::object& delivery, const json::object& message) {
    text_ +=
        relay::format("\nto {}  {}  {}{}\n", render_.paint.name(display_field(delivery, "to")),
                      render_.paint(Color::Dim, display_field(delivery, "deliveryId")), display_field(delivery, "mode"),
                      integer_member(delivery, "lane").value_or(0) % 2 != 0 ? ", urgent" : "");
    while (text_.ends_with(" \n")) text_.erase(text_.size() - 2, 1);
    const auto history = objects_in(delivery, "history");
    const bool open = !is_final_state(display_field(delivery, "state"));
    for (std::size_t i = 0; i < history.size(); ++i) {
      if (i > 0) pause(Millis{time_in(*history[i], "at") - time_in(*history[i - 1], "at")});
      event(*history[i], time_in(message, "timestamp"), open && i + 1 == history.size() ? glyphs_.open : glyphs_.dot);
    }
    const auto color = color_of(display_field(delivery, "state"));
    const auto outcome = wrap(outcome_text(delivery, message, render_), render_.columns - 5);
    for (std::size_t i = 0; i < outcome.size(); ++i)
      text_ += relay::format("  {} {}\n", i == 0 ? render_.paint(Color::Dim, glyphs_.end) : "  ",
                             render_.paint(color, outcome[i]));
  }

  void add_note(std::string_view line) { text_ += fold(relay::format("\n{}\n", line), render_.columns); }
  std::string take() { return std::move(text_); }

 private:
  std::string rule() const { return render_.paint(Color::Dim, glyphs_.rule); }

  void pause(Millis length) {
    if (length < kNoticeable) return;
    text_ += relay::format("  {}  {}\n", rule(), render_.paint(Color::Dim, short_duration(length) + " later"));
  }

  void event(const json::object& entry, WallMs begin, std::string_view dot) {
    const auto state = display_field(entry, "state"), proof = display_field(entry, "proof"),
               via = display_field(entry, "via");
    const auto at = time_in(entry, "at");
    const auto color = color_of(state);
    text_ += relay::format("  {}  {}  {:>10}  {}", render_.paint(color, dot), exact_time(at),
                           relay::format("+{}", fine_duration(Millis{std::max<WallMs>(0, at - begin)})),
                           render_.paint(color, state));
    auto rest = proof.empty() ? "" : relay::format("proof: {:<9}", proof);
    if (!via.empty()) rest += relay::format("  via {}", via);
    while (rest.ends_with(' ')) rest.pop_back();
    const auto state_columns = std::max(display_width(state), kStateColumns);
    const bool fits = kDetailIndent + state_columns + 2 + display_width(rest) <= render_.columns;
    if (fits && !rest.empty()) text_ += std::string(state_columns - display_width(state) + 2, ' ') + rest;
    text_ += "\n";
    if (!fits) detail(rest);
    detail(display_field(entry, "reason"));
    detail(display_field(entry, "evidence"));
  }

  void detail(const std::string& words) {
    if (words.empty()) return;
    const auto indent = render_.columns < kNarrow ? std::size_t{5} : kDetailIndent;
    for (const auto& line : wrap(words, render_.columns - indent))
      text_ += relay::format("  {}{}{}\n", rule(), std::string(indent - 3, ' '), line);
  }

  const RenderContext& render_;
  const Glyphs& glyphs_;
  std::string text_;
};

/// `2 delivered, 1 pending` for a message to several.
std::string summary_of(const std::vector<const json::object*>& deliveries) {
  std::map<std::string, std::size_t> counts;
  std::set<std::string> names;
  for (const auto* delivery : deliveries) {
    names.insert(display_field(*delivery, "to"));
    auto state = display_field(*delivery, "state");
    ++counts[is_final_state(state) ? state == "in_doubt" ? "in doubt" : state : "pending"];
  }
  std::string text = names.size() < deliveries.size() ? relay::format("{} deliveries:", deliveries.size())
                                                      : relay::format("{} recipients:", deliveries.size());
  for (const auto& [state, count] : counts)
    text += relay::format("{} {} {}", text.ends_with(':') ? "" : ",", count, state);
  return text;
}

}  // namespace

RenderContext render_context_of(const Context& context) {
  return {.columns = context.columns,
          .unicode = context.unicode,
          .paint = context.paint,
          .now = context.now(),
          .reader = context.own_name()};
}

bool is_final_state(std::string_view state) {
  return state != "created" && state != "queued" && state != "accepted" && state != "deferred";
}

bool is_final_state(const json::object& trace) {
  return std::ranges::all_of(objects_in(trace, "deliveries"),
                             [](const auto* delivery) { return is_final_state(display_field(*delivery, "state")); });
}

std::string outcome_text(const json::object& delivery, const json::object& message, const RenderContext& render) {
  const auto state = display_field(delivery, "state");
  if (!is_final_state(state)) return pending_text(delivery, render);
  if (state == "delivered") return delivered_text(delivery, message, render);
  const auto reason = last_reason(delivery);
  const auto because = reason.empty() ? "" : ": " + reason;
  const auto plain =
      reason.starts_with(state) ? reason : state + because;  // "cancelled by Alice" already has the state
  if (state == "cancelled") return plain;
  const auto again =
      relay::format("; redeliver it with: agent-relay dead redeliver {}", display_field(delivery, "deliveryId"));
  if (state == "in_doubt") return relay::format("in doubt{}; it may have arrived{}", because, again);
  if (state == "dead") {
    const auto attempts = attempts_of(delivery);
    return relay::format("given up{}{}{}", attempts.empty() ? "" : " after " + attempts, because, again);
  }
  return plain + again;
}

std::string timeline(const json::object& trace, const RenderContext& render) {
  Drawing drawing{render};
  static const json::object kNone;
  const auto* message = object_member(trace, "message");
  if (message != nullptr) drawing.head(*message);
  const auto deliveries = objects_in(trace, "deliveries");
  if (deliveries.empty()) drawing.add_note("  stored; there is no recipient");
  for (const auto* delivery : deliveries) drawing.delivery(*delivery, message != nullptr ? *message : kNone);
  if (deliveries.size() > 1) drawing.add_note(summary_of(deliveries));
  if (bool_member(trace, "more").value_or(false)) drawing.add_note("  more recipients than fit in one response");
  return drawing.take();
}

}  // namespace relay::cli
