// The query for messages, with many filters. Its SQL is composed of literals of this file; user input is bound, never
// spliced.
#include <algorithm>
#include <unordered_set>
#include <variant>

#include "base/format.h"
#include "records/short_id.h"
#include "store/message_rows.h"
#include "store/sqlite/names.h"
#include "store/sqlite/queries.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/text.h"
#include "store/text_search.h"

namespace relay::store {

using namespace records;

namespace {

/// Conditions and the values bound to them.
class Where {
 public:
  void add(const std::string& condition) { text_ += (text_.empty() ? "" : " AND ") + condition; }
  template <class Value>
  void add(std::string_view condition, Value value) {  // `{}` in the condition becomes the parameter
    add(format(fmt::runtime(condition), parameter(std::move(value))));
  }
  /// Binds a value; returns its parameter name for conditions that are added elsewhere.
  template <class Value>
  std::string parameter(Value value) {
    values_.emplace_back(std::move(value));
    return format("?{}", values_.size());
  }
  /// All conditions and `more`, which may be empty.
  [[nodiscard]] std::string text(const std::string& more) const {
    const auto all = text_ + (text_.empty() || more.empty() ? "" : " AND ") + more;
    return all.empty() ? all : " WHERE " + all;
  }
  void bind(Statement& statement) const {
    int index = 0;
    for (const auto& value : values_) {
      ++index;
      std::visit([&](const auto& one) { statement.bind_at(index, one); }, value);
    }
  }

 private:
  std::string text_;
  std::vector<std::variant<std::int64_t, std::string>> values_;
};

/// A source of messages: its tables, the column with the message's key in the order of an index, and its own condition.
struct RowSource {
  std::string from = "messages m";
  std::string key = "m.key";
  std::string only = {};
};

/// A query over all sources at once, in the order of keys. One result may take several scans.
struct Scan {
  std::vector<RowSource> sources;
  Where where;
  std::string direction;
  const SearchQuery* words = nullptr;  // compared here, for messages that are not in the full-text index yet

  [[nodiscard]] std::string sql() const {
    std::string text;
    for (const auto& source : sources) {
      text += (text.empty() ? "SELECT " : " UNION ALL SELECT ") + source.key + "," RELAY_MESSAGE_BEHIND_KEY " FROM " +
              source.from + RELAY_MESSAGE_NAMES + where.text(source.only);
    }
    return text + " ORDER BY 1" + direction;
  }
};

class ResultRows {
 public:
  ResultRows(SqliteConnection& connection, std::size_t limit) : connection_{connection}, limit_{limit} {}

  [[nodiscard]] bool full() const { return rows_.size() >= limit_ || bytes_ >= kMaxResultBytes; }

  Result<void> take(const Scan& scan) {
    if (full()) return {};
    auto statement = RELAY_TRY(connection_.prepare(scan.sql()));
    scan.where.bind(statement);
    while (!full() && RELAY_TRY(statement.step())) {
      // Several deliveries of one message to one agent (a shadow's copy), or several sources of it, are one row of its
      // inbox.
      if (!seen_.insert(statement.integer(0)).second) continue;
      auto message = read_message(statement, 0);
      if (scan.words != nullptr && !scan.words->matches(body_text(message.payload))) continue;
      RELAY_TRY(add(std::move(message)));
    }
    return {};
  }

  std::vector<MessageRow> rows() && { return std::move(rows_); }

 private:
  Result<void> add(Message message) {
    MessageRow row;
    {
      // Neither grouped here nor `IN` below: each would build a temporary table for every row.
      const auto states = RELAY_TRY(connection_.use("SELECT recipient,key,state FROM deliveries WHERE message=?1"));
      states->bind(message.key.value());
      std::vector<DeliveryProgress<std::int64_t>> deliveries;
      while (RELAY_TRY(states->step()))
        deliveries.push_back({states->integer(0), states->integer(1), read_state(states->integer(2))});
      row.deliveries = deliveries.size();
      row.state = message_state(deliveries).value_or(row.state);
    }
    const auto id = short_id(message.key);
    row.reply_count = RELAY_TRY(replies_to(id));
    if (message.id != id) row.reply_count += RELAY_TRY(replies_to(message.id));
    row.reply_count = std::min(row.reply_count, kMaxReplyCount);
    bytes_ += size_of(message);
    row.message = std::move(message);
    rows_.push_back(std::move(row));
    return {};
  }

  Result<std::size_t> replies_to(std::string_view id) {
    const auto count =
        RELAY_TRY(connection_.use("SELECT count(*) FROM (SELECT 1 FROM messages WHERE thread=?1 LIMIT ?2)"));
    count->bind(id, static_cast<std::int64_t>(kMaxReplyCount));
    return RELAY_TRY(count->step()) ? static_cast<std::size_t>(count->integer(0)) : 0;
  }

  SqliteConnection& connection_;
  std::size_t limit_;
  std::vector<MessageRow> rows_;
  std::unordered_set<std::int64_t> seen_;
  std::size_t bytes_ = 0;
};

/// The filters name an unknown agent.
struct NoMatch {};

Result<std::variant<Where, NoMatch>> filters_of(SqliteConnection& connection, const MessageQuery& query) {
  Where where;
  const std::pair<const std::string&, std::string_view> names[] = {
      {query.from, "m.sender={}"}, {query.to, "m.recipient={}"}, {query.channel, "m.recipient={}"}};
  for (const auto& [name, condition] : names) {
    if (name.empty()) continue;
    const auto number = RELAY_TRY(find_name(connection, name));
    if (!number) return NoMatch{};
    where.add(condition, *number);
  }
  if (!query.thread.empty()) where.add("m.thread={}", query.thread);
  if (!query.topic.empty()) where.add("m.topic={}", query.topic);
  std::int64_t after = query.after.value();
  if (query.since > 0) {
    after = std::max(after, RELAY_TRY(first_message_since(connection, query.since - kClockSlackMs)) - 1);
    where.add("m.ts>={}", query.since);
  }
  if (after > 0) where.add("m.key>{}", after);
  if (query.before.value() > 0) where.add("m.key<{}", query.before.value());
  return where;
}

}  // namespace

Result<std::vector<MessageRow>> select_messages(SqliteConnection& connection, const MessageQuery& query) {
  const auto transaction = RELAY_TRY(ReadTransaction::begin(connection));
  auto filters = RELAY_TRY(filters_of(connection, query));
  auto* where = std::get_if<Where>(&filters);
  if (where == nullptr) return std::vector<MessageRow>{};
  Scan scan{{RowSource{}}, *where, query.ascending ? "" : " DESC"};

  std::optional<std::int64_t> inbox_of;
  if (!query.delivered_to.empty()) {
    inbox_of = RELAY_TRY(find_name(connection, query.delivered_to));
    if (!inbox_of) return std::vector<MessageRow>{};
  }
  const bool search = !query.search.empty();
  if (!query.id.empty()) {
    std::string keys;
    for (const auto key : RELAY_TRY(find_message_keys(connection, query.id)))
      keys += format("{}{}", keys.empty() ? "" : ",", key.value());
    scan.where.add(format("m.key IN ({})", keys));
  }
  if (inbox_of && !search && query.id.empty() && query.unread_only) {
    scan.where.add(
        "m.key IN (SELECT message FROM deliveries INDEXED BY deliveries_waiting WHERE recipient={0} AND " RELAY_IN_LANE(
            "") " UNION ALL SELECT message FROM deliveries INDEXED BY deliveries_held WHERE recipient={0} AND " RELAY_HELD("") ")",
        *inbox_of);
  } else if (inbox_of && !search && query.id.empty()) {
    // Messages addressed to the agent itself, and messages to several recipients.
    const auto recipient = scan.where.parameter(*inbox_of);
    auto with_others = format("d.recipient={} AND d.addressed=0", recipient);
    // The bounds again, for the index that is scanned.
    if (query.after.value() > 0) with_others += " AND d.message>" + scan.where.parameter(query.after.value());
    if (query.before.value() > 0) with_others += " AND d.message<" + scan.where.parameter(query.before.value());
    scan.sources = {{.only = format("m.recipient={0} AND EXISTS(SELECT 1 FROM deliveries d WHERE d.message=m.key AND "
                                    "d.recipient={0})",
                                    recipient)},
                    {"deliveries d INDEXED BY deliveries_by_recipient CROSS JOIN messages m ON m.key=d.message",
                     "d.message", with_others}};
  } else if (inbox_of) {
    scan.where.add(
        query.unread_only
            ? "EXISTS(SELECT 1 FROM deliveries d WHERE d.message=m.key AND d.recipient={} AND " RELAY_PENDING("d.") ")"
            : "EXISTS(SELECT 1 FROM deliveries d WHERE d.message=m.key AND d.recipient={})",
        *inbox_of);
  }

  if (!search) {
    ResultRows result{connection, query.limit};
    RELAY_TRY(result.take(scan));
    return std::move(result).rows();
  }

  const SearchQuery words{query.search};
  if (words.empty()) return std::vector<MessageRow>{};
  const auto indexed = RELAY_TRY(indexed_key(connection));
  Scan old = scan;
  old.sources = {{"message_text t CROSS JOIN messages m ON m.key=t.rowid", "t.rowid"}};
  old.where.add("t.message_text MATCH {}", words.full_text_expression());
  Scan recent = scan;  // not indexed yet: few messages, each is read
  recent.where.add("m.key>{}", indexed);
  recent.words = &words;
  const auto take = [&](const Scan& first, const Scan& second) -> Result<std::vector<MessageRow>> {
    ResultRows result{connection, query.limit};
    RELAY_TRY(result.take(first));
    RELAY_TRY(result.take(second));
    return std::move(result).rows();
  };
  auto found = query.ascending ? take(old, recent) : take(recent, old);
  if (found || !connection.damage_in_full_text()) return found;
  // The index is broken (the writer will rebuild it): read every message, which is slow but correct.
  Scan every = scan;
  every.words = &words;
  ResultRows result{connection, query.limit};
  RELAY_TRY(result.take(every));
  return std::move(result).rows();
}

}  // namespace relay::store
