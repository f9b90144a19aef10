#include "store/sqlite/events.h"

#include <algorithm>
#include <unordered_map>

#include "records/query_errors.h"
#include "store/event_json.h"
#include "store/message_rows.h"
#include "store/record_json.h"
#include "store/sqlite/queries.h"
#include "store/sqlite/rows.h"

namespace relay::store {

using namespace records;

namespace {

constexpr std::int64_t kMaxScanned = 20'000;  // rows per query; a filter may skip many
constexpr const char* kNewestEvent =
    "SELECT coalesce((SELECT max(seq) FROM events),"
    "(SELECT value FROM meta WHERE name='newest_event'),0)";

/// Names by number, for one query.
class NamesByNumber {
 public:
  explicit NamesByNumber(SqliteConnection& connection) : connection_{connection} {}
  Result<const std::string*> name(std::int64_t number) {
    const auto [entry, is_new] = names_.try_emplace(number);
    if (is_new && number != 0) {
      const auto find = RELAY_TRY(connection_.use("SELECT name FROM names WHERE id=?1"));
      find->bind(number);
      if (RELAY_TRY(find->step())) entry->second = find->text(0);
    }
    return &entry->second;
  }

 private:
  SqliteConnection& connection_;
  std::unordered_map<std::int64_t, std::string> names_;
};

Result<std::optional<Message>> find_message(SqliteConnection& connection, std::int64_t key) {
  const auto find = RELAY_TRY(
      connection.use("SELECT " RELAY_MESSAGE_COLUMNS " FROM messages m" RELAY_MESSAGE_NAMES "WHERE m.key=?1"));
  find->bind(key);
  if (!RELAY_TRY(find->step())) return std::optional<Message>{};
  return std::optional{read_message(*find.operator->(), 0)};
}

Result<Party> party_of(SqliteConnection& connection, const std::string& name) {
  const auto find = RELAY_TRY(connection.use("SELECT entity FROM agents WHERE name=?1"));
  find->bind(std::string_view{name});
  return RELAY_TRY(find->step()) && find->integer(0) == static_cast<std::int64_t>(protocol::EntityType::User)
             ? Party::User
             : Party::Agent;
}

Result<std::optional<HistoryEntry>> find_entry(SqliteConnection& connection, std::int64_t delivery, std::int64_t n) {
  const auto find =
      RELAY_TRY(connection.use("SELECT " RELAY_HISTORY_COLUMNS " FROM delivery_history WHERE delivery=?1 AND n=?2"));
  find->bind(delivery, n);
  if (!RELAY_TRY(find->step())) return std::optional<HistoryEntry>{};
  return std::optional{read_history_entry(*find.operator->(), 0)};
}

Result<std::string> encode_history_entry(SqliteConnection& connection, const EventHead& head, std::int64_t delivery,
                                         std::int64_t n) {
  DeliveryEventData data{.delivery = Key{delivery}};
  data.to = RELAY_TRY(party_of(connection, head.agent));
  const auto row =
      RELAY_TRY(connection.use("SELECT d.message,d.available_at,d.queue_state,d.state,d.entry," RELAY_NEWEST_ENTRY
                               " FROM deliveries d WHERE d.key=?1"));
  row->bind(delivery);
  if (!RELAY_TRY(row->step())) return encode_delivery(head, data);
  if (n < row->integer(4))
    data.entry = RELAY_TRY(find_entry(connection, delivery, n));
  else if (!row->is_null(5))
    data.entry = read_history_entry(*row.operator->(), 5);
  data.message = RELAY_TRY(find_message(connection, row->integer(0)));
  if (data.message) {
    data.from = RELAY_TRY(party_of(connection, data.message->from.value()));
    if (!data.entry) data.entry = implicit_first_entry(data.message->ts);
  }
  // From the current delivery: correct as long as this is its newest entry.
  const bool is_deferred = read_hold(row->integer(2)) == Hold::Time;
  data.will_retry = is_deferred && data.entry && data.entry->state == read_state(row->integer(3));
  data.available_at = data.will_retry ? row->integer(1) : 0;
  return encode_delivery(head, data);
}

/// The summary of an ended session. It does not change any more, so it is computed from its rows.
Result<SessionSummary> summary_of(SqliteConnection& connection, const EventHead& head, const PriceOf& price_of) {
  SessionSummary summary;
  const auto row = select_session(connection, SessionId{head.session});
  if (!row) return summary;
  summary.duration = (row->session.ended != 0 ? row->session.ended : head.at) - row->session.started;
  summary.stats = row->stats;
  add_usage(summary, RELAY_TRY(select_usage(connection, {.session = head.session})), price_of);
  return summary;
}

/// The first number whose event is not before a time.
Result<std::int64_t> number_at(SqliteConnection& connection, WallMs time, std::int64_t low, std::int64_t high) {
  return first_since(connection, "SELECT seq, at FROM events WHERE seq>=?1 ORDER BY seq LIMIT 1", time, low, high);
}

}  // namespace

Result<std::int64_t> EventWriter::number_of(std::string_view name) {
  if (name.empty()) return std::int64_t{0};
  return names_.number(name);
}

Result<void> EventWriter::load_next() {
  if (next_) return {};
  next_ = Next{RELAY_TRY(connection_.integer(kNewestEvent)) + 1,
               RELAY_TRY(connection_.integer("SELECT at FROM events ORDER BY seq DESC LIMIT 1"))};
  return {};
}

Result<EventSeq> EventWriter::newest() {
  RELAY_TRY(load_next());
  return static_cast<EventSeq>(next_->number - 1);
}

Result<EventWriter::EventSlot> EventWriter::next_slot(std::string_view type, WallMs at, const SessionId& session) {
  RELAY_TRY(load_next());
  next_->at = std::max(at, next_->at);
  return EventSlot{next_->number++, next_->at, RELAY_TRY(number_of(type)), RELAY_TRY(number_of(session.value()))};
}

Result<void> EventWriter::add(const EventRow& event) {
  const auto slot = RELAY_TRY(next_slot(event.type, event.at, event.session));
  const auto agent = RELAY_TRY(number_of(event.agent.value()));
  rows_.add(slot.number, slot.at, slot.type, agent, slot.session, OrNull{}, OrNull{}, std::string_view{event.body});
  return {};
}

Result<void> EventWriter::add_message(const Message& message, std::int64_t sender) {
  const auto slot = RELAY_TRY(next_slot(kMessageExchanged, message.ts, message.session));
  rows_.add(slot.number, slot.at, slot.type, sender, slot.session, message.key.value(), OrNull{}, OrNull{});
  return {};
}

Result<void> EventWriter::add_entry(const HistoryRef& entry, const SessionId& session, DeliveryState state, WallMs at) {
  const auto slot = RELAY_TRY(next_slot(event_type_of(state, entry.number == 0), at, session));
  rows_.add(slot.number, slot.at, slot.type, entry.recipient, slot.session, entry.delivery.value(), entry.number,
            OrNull{});
  return {};
}

Result<void> EventWriter::write() {
  return rows_.write(connection_,
                     "INSERT OR FAIL INTO events(seq,at,type,agent,session,ref,n,body)"
                     " SELECT c1,c2,c3,c4,c5,c6,c7,c8 FROM row_batch(?1)");
}

void EventWriter::on_rollback() {
  next_.reset();
  rows_.clear();
}

Result<void> EventWriter::put(const UsageRow& usage) {
  const auto session = RELAY_TRY(number_of(usage.session.value()));
  const auto agent = RELAY_TRY(number_of(usage.agent.value()));
  const auto put = RELAY_TRY(connection_.use(
      "INSERT OR REPLACE INTO usage(session,request,agent,model,thread,source,at,input,output,cache_read,cache_write,"
      "reasoning,cost) VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13)"));
  put->bind(session, std::string_view{usage.request}, agent, std::string_view{usage.model}, OrNull{usage.thread},
            OrNull{usage.source}, usage.at, usage.input, usage.output, usage.cache_read, usage.cache_write,
            usage.reasoning);
  if (usage.cost)
    put->bind_at(13, *usage.cost);
  else
    put->bind_at(13, OrNull{});
  return put->run();
}

Result<void> EventWriter::count(const SessionId& session, const SessionStats& more, WallMs at) {
  const auto number = RELAY_TRY(number_of(session.value()));
  {
    const auto add = RELAY_TRY(connection_.use(
        "INSERT INTO session_stats(session,items,commands,at) VALUES(?1,?2,?3,?4) ON CONFLICT DO UPDATE SET"
        " items=items+excluded.items, commands=commands+excluded.commands, at=excluded.at"));
    add->bind(number, more.items, more.commands, at);
    RELAY_TRY(add->run());
  }
  for (const auto& file : more.files) {
    const auto add =
        RELAY_TRY(connection_.use("INSERT OR IGNORE INTO session_files(session,path) SELECT ?1,?2"
                                  " WHERE (SELECT count(*) FROM session_files WHERE session=?1)<?3"));
    add->bind(number, std::string_view{file}, static_cast<std::int64_t>(kMaxSessionFiles));
    RELAY_TRY(add->run());
  }
  return {};
}

Result<EventPage> select_events(SqliteConnection& connection, const EventQuery& query) {
  const auto transaction = RELAY_TRY(ReadTransaction::begin(connection));
  EventPage page;
  page.newest = static_cast<EventSeq>(RELAY_TRY(connection.integer(kNewestEvent)));
  page.oldest = static_cast<EventSeq>(RELAY_TRY(connection.integer("SELECT min(seq) FROM events")));
  const auto newest = static_cast<std::int64_t>(page.newest), oldest = static_cast<std::int64_t>(page.oldest);
  auto first = std::max(static_cast<std::int64_t>(std::min<EventSeq>(query.after, INT64_MAX - 1)) + 1, oldest);
  auto end = newest + 1;
  if (query.before > 0) end = static_cast<std::int64_t>(std::min<EventSeq>(query.before, page.newest + 1));
  if (query.since > 0) first = std::max(first, RELAY_TRY(number_at(connection, query.since, first, end)));
  if (query.until > 0) end = RELAY_TRY(number_at(connection, query.until, first, end));
  page.next_after = static_cast<EventSeq>(std::min(newest, first - 1));
  page.next_before = static_cast<EventSeq>(end);

  NamesByNumber names{connection};
  const auto rows = RELAY_TRY(
      connection.use(query.newest ? "SELECT seq,at,type,agent,session,ref,n,body FROM events WHERE seq>=?1 AND seq<?2"
                                    " ORDER BY seq DESC"
                                  : "SELECT seq,at,type,agent,session,ref,n,body FROM events WHERE seq>=?1 AND seq<?2"
                                    " ORDER BY seq"));
  rows->bind(first, end);
  std::size_t bytes = 0;
  std::int64_t scanned = 0;
  bool stopped = false;
  while (RELAY_TRY(rows->step())) {
    if (page.events.size() >= query.limit || bytes >= kMaxResultBytes || scanned++ >= kMaxScanned) {
      stopped = true;
      break;
    }
    EventHead head{.number = static_cast<EventSeq>(rows->integer(0)), .at = rows->integer(1)};
    head.type = *RELAY_TRY(names.name(rows->integer(2)));
    head.agent = *RELAY_TRY(names.name(rows->integer(3)));
    head.session = *RELAY_TRY(names.name(rows->integer(4)));
    (query.newest ? page.next_before : page.next_after) = head.number;
    if (!query.filter.matches(head.type, head.agent, head.session)) continue;
    EncodedEvent encoded{.number = head.number, .type = head.type};
    if (head.type == kMessageExchanged)
      encoded.json = encode_message(head, Key{rows->integer(5)}, RELAY_TRY(find_message(connection, rows->integer(5))));
    else if (!rows->is_null(6))
      encoded.json = RELAY_TRY(encode_history_entry(connection, head, rows->integer(5), rows->integer(6)));
    else if (head.type == kSessionEnded)
      encoded.json =
          encode_event(head, add_summary(rows->text(7), RELAY_TRY(summary_of(connection, head, query.price_of))));
    else
      encoded.json = encode_event(head, rows->text(7));
    bytes += encoded.json.size();
    page.events.push_back(std::move(encoded));
  }
  page.more = stopped;
  if (query.newest) {
    std::ranges::reverse(page.events);
    page.next_after = page.newest;
    if (!stopped) page.next_before = static_cast<EventSeq>(std::min(first, end));
  } else if (!stopped) {
    page.next_after = std::max(page.next_after, static_cast<EventSeq>(end - 1));
  }
  return page;
}

Result<std::vector<UsageSum>> select_usage(SqliteConnection& connection, const UsageQuery& query) {
  std::vector<UsageSum> sums;
  std::int64_t agent = 0, session = 0;
  for (const auto& [name, number] : {std::pair{&query.agent, &agent}, std::pair{&query.session, &session}}) {
    if (name->empty()) continue;
    const auto found = RELAY_TRY(find_name(connection, *name));
    if (!found) return sums;
    *number = *found;
  }
  const auto rows = RELAY_TRY(connection.use(
      "SELECT a.name, u.model, u.thread, s.name, count(*), sum(u.input), sum(u.output), sum(u.cache_read),"
      " sum(u.cache_write), sum(u.reasoning), sum(u.cost) FROM usage u"
      " LEFT JOIN names a ON a.id=u.agent LEFT JOIN names s ON s.id=u.session"
      " WHERE u.at>=?1 AND u.at<?2 AND (?3=0 OR u.agent=?3) AND (?4=0 OR u.session=?4)"
      " GROUP BY u.agent, u.model, u.thread, u.session, u.cost IS NULL ORDER BY a.name, u.model, u.thread, s.name, "
      "u.cost IS NULL"));
  rows->bind(query.since, query.until > 0 ? query.until : INT64_MAX, agent, session);
  while (RELAY_TRY(rows->step())) {
    auto& sum = sums.emplace_back();
    sum.agent = AgentName{rows->text(0)};
    sum.model = rows->text(1);
    sum.thread = rows->text(2);
    sum.session = SessionId{rows->text(3)};
    int column = 4;
    for (auto* count : {&sum.answers, &sum.input, &sum.output, &sum.cache_read, &sum.cache_write, &sum.reasoning})
      *count = rows->integer(column++);
    if (!rows->is_null(10)) sum.cost = rows->real(10);
  }
  return sums;
}

Result<SessionRow> select_session(SqliteConnection& connection, const SessionId& id) {
  const auto transaction = RELAY_TRY(ReadTransaction::begin(connection));
  SessionRow row;
  {
    const auto find = RELAY_TRY(
        connection.use("SELECT agent,capabilities,started,last_seen,ended,shadows FROM sessions WHERE id=?1"));
    find->bind(std::string_view{id.value()});
    if (!RELAY_TRY(find->step()))
      return fail(QueryErrc::NotFound, "no session has that id; `agent-relay agents` lists connected agents");
    row.session.id = id;
    row.session.agent = AgentName{find->text(0)};
    row.session.capabilities = RELAY_TRY(capabilities_from_json(find->text(1)));
    row.session.started = find->integer(2);
    row.session.last_seen = find->integer(3);
    row.session.ended = find->integer(4);
    row.session.shadows = RELAY_TRY(shadows_from_json(find->text(5)));
  }
  {
    const auto find = RELAY_TRY(connection.use("SELECT topic FROM subscriptions WHERE session=?1 ORDER BY topic"));
    find->bind(std::string_view{id.value()});
    while (RELAY_TRY(find->step())) row.session.topics.push_back(find->text(0));
  }
  const auto number = RELAY_TRY(find_name(connection, id.value()));
  if (!number) return row;
  {
    const auto find = RELAY_TRY(connection.use("SELECT items, commands FROM session_stats WHERE session=?1"));
    find->bind(*number);
    if (RELAY_TRY(find->step())) {
      row.stats.items = find->integer(0);
      row.stats.commands = find->integer(1);
    }
  }
  const auto files =
      RELAY_TRY(connection.use("SELECT path FROM session_files WHERE session=?1 ORDER BY path LIMIT ?2"));
  files->bind(*number, static_cast<std::int64_t>(kMaxSessionFiles));
  while (RELAY_TRY(files->step())) row.stats.files.push_back(files->text(0));
  return row;
}

Result<std::uint64_t> event_bytes(SqliteConnection& connection) {
  constexpr double kRowBytes = 40;  // besides its body
  const auto estimate = RELAY_TRY(connection.use(
      "SELECT (SELECT max(seq) FROM events)-(SELECT min(seq) FROM events)+1,"
      " (SELECT avg(length(body)) FROM (SELECT coalesce(body,'') AS body FROM events ORDER BY seq LIMIT 200)),"
      " (SELECT avg(length(body)) FROM (SELECT coalesce(body,'') AS body FROM events ORDER BY seq DESC"
      " LIMIT 200))"));
  if (!RELAY_TRY(estimate->step())) return std::uint64_t{0};
  const auto each = (estimate->real(1) + estimate->real(2)) / 2 + kRowBytes;
  return static_cast<std::uint64_t>(static_cast<double>(estimate->integer(0)) * each);
}

Result<bool> prune_events(SqliteConnection& connection, WallMs before, std::size_t max_rows) {
  const auto oldest = RELAY_TRY(connection.integer("SELECT min(seq) FROM events"));
  const auto newest = RELAY_TRY(connection.integer("SELECT max(seq) FROM events"));
  if (newest == 0) return false;
  {
    const auto keep = RELAY_TRY(connection.use("INSERT OR REPLACE INTO meta(name,value) VALUES('newest_event',?1)"));
    keep->bind(newest);
    RELAY_TRY(keep->run());
  }
  const auto end = RELAY_TRY(number_at(connection, before, oldest, newest + 1));
  const auto stop = std::min(end, oldest + static_cast<std::int64_t>(max_rows));
  const auto remove = RELAY_TRY(connection.use("DELETE FROM events WHERE seq<?1"));
  remove->bind(stop);
  RELAY_TRY(remove->run());
  return stop < end;
}

}  // namespace relay::store
