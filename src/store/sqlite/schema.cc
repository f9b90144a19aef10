#include "store/sqlite/schema.h"

#include "base/format.h"
#include "store/message_store.h"

namespace relay::store {
namespace {

// Version 1: the rows. The daemon assigns keys and they only grow, so every index grows near its right edge (or near
// the right edge of one agent's part). An index on random ids was measured to be 50 to 120 times slower.
constexpr const char* kTables = R"sql(
CREATE TABLE meta(name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE names(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);

CREATE TABLE messages(
  key INTEGER PRIMARY KEY, id TEXT NOT NULL, ts INTEGER NOT NULL, sender INTEGER NOT NULL, recipient INTEGER NOT NULL,
  topic TEXT, kind TEXT, thread TEXT, session TEXT, payload_meta TEXT, payload TEXT NOT NULL);
CREATE INDEX messages_by_ts ON messages(ts);
CREATE INDEX messages_by_sender ON messages(sender);
CREATE INDEX messages_by_recipient ON messages(recipient);
CREATE INDEX messages_by_thread ON messages(thread) WHERE thread IS NOT NULL;

CREATE TABLE deliveries(
  key INTEGER PRIMARY KEY, message INTEGER NOT NULL, recipient INTEGER NOT NULL, seq INTEGER NOT NULL,
  carriage INTEGER NOT NULL, shadow_of TEXT, state INTEGER NOT NULL, proof INTEGER NOT NULL,
  expires_at INTEGER NOT NULL, queued_offline INTEGER NOT NULL);
CREATE INDEX deliveries_by_message ON deliveries(message);
CREATE INDEX deliveries_by_recipient ON deliveries(recipient);
CREATE INDEX deliveries_pending ON deliveries(recipient) WHERE state<4 AND state<>2;
CREATE INDEX deliveries_expiring ON deliveries(expires_at) WHERE state<4 AND state<>2;
CREATE TABLE delivery_history(
  delivery INTEGER NOT NULL, n INTEGER NOT NULL, at INTEGER NOT NULL, state INTEGER NOT NULL, proof INTEGER NOT NULL,
  reason TEXT, PRIMARY KEY(delivery, n)) WITHOUT ROWID;

CREATE TABLE streams(
  topic TEXT NOT NULL, sender INTEGER NOT NULL, recipient INTEGER NOT NULL, last INTEGER NOT NULL,
  acked INTEGER NOT NULL, PRIMARY KEY(sender, recipient, topic)) WITHOUT ROWID;

CREATE TABLE agents(
  name TEXT PRIMARY KEY, entity INTEGER NOT NULL, cli TEXT, program TEXT, model TEXT, task TEXT, working_directory TEXT,
  team TEXT, display_name TEXT, avatar_url TEXT, claim_hash TEXT, first_seen INTEGER NOT NULL,
  last_seen INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE sessions(
  id TEXT PRIMARY KEY, agent TEXT NOT NULL, token_hash TEXT, capabilities TEXT NOT NULL, started INTEGER NOT NULL,
  last_seen INTEGER NOT NULL, ended INTEGER NOT NULL, topics TEXT NOT NULL, shadows TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX sessions_open ON sessions(agent) WHERE ended = 0;
CREATE INDEX sessions_ended ON sessions(ended) WHERE ended <> 0;
CREATE TABLE channel_members(
  channel TEXT NOT NULL, member TEXT NOT NULL, PRIMARY KEY(channel, member)) WITHOUT ROWID;
CREATE INDEX channels_of_member ON channel_members(member);
CREATE TABLE outbox_marks(
  sender TEXT NOT NULL, epoch TEXT NOT NULL, high INTEGER NOT NULL, refused TEXT, updated INTEGER NOT NULL,
  PRIMARY KEY(sender, epoch)) WITHOUT ROWID;
CREATE INDEX outbox_marks_by_age ON outbox_marks(updated);
CREATE TABLE proposals(
  id TEXT PRIMARY KEY, title TEXT, description TEXT, type TEXT, proposer TEXT NOT NULL, participants TEXT NOT NULL,
  votes TEXT NOT NULL, thread TEXT, created INTEGER NOT NULL, expires_at INTEGER NOT NULL, quorum INTEGER NOT NULL,
  threshold REAL NOT NULL, outcome TEXT) WITHOUT ROWID;
)sql";

// Version 2: the full-text index and the view, both derived from the rows.
constexpr const char* kFullText =
    "CREATE VIRTUAL TABLE message_text USING fts5(body, content='', columnsize=0, tokenize='unicode61 "
    "remove_diacritics 2');";

constexpr const char* kSeedView =
    "CREATE VIEW seed_messages(id, ts, sender, recipient, topic, kind, body, data, delivery_seq, delivery_session_id,"
    " session_id) AS SELECT m.id, m.ts, s.name, r.name, m.topic, coalesce(m.kind,'message'), " RELAY_BODY_OF("m") ","
    " CASE WHEN json_valid(m.payload) THEN json_extract(m.payload,'$.data') END,"
    " (SELECT d.seq FROM deliveries d WHERE d.message = m.key ORDER BY d.key LIMIT 1), NULL, m.session"
    " FROM messages m JOIN names s ON s.id = m.sender JOIN names r ON r.id = m.recipient;";

// Version 3: deliveries have lanes, holds and retries. Earlier ones keep their numbers in lane 0. A partial index of
// the few held or dead rows costs an ordinary message nothing.
constexpr const char* kLanes =
    "ALTER TABLE deliveries ADD COLUMN sender INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE deliveries ADD COLUMN lane INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE deliveries ADD COLUMN rank INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE deliveries ADD COLUMN wait INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE deliveries ADD COLUMN available_at INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE deliveries ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;"
    "DROP INDEX deliveries_pending;"
    "DROP INDEX deliveries_expiring;"
    "DROP INDEX deliveries_by_recipient;"
    "UPDATE deliveries SET rank=key, sender=coalesce((SELECT m.sender FROM messages m WHERE m.key=message),0),"
    " wait=CASE WHEN state IN (0,1,3) THEN 0 WHEN state IN (2,6) THEN 3 ELSE 4 END;"
    "CREATE INDEX deliveries_by_recipient ON deliveries(recipient, message);"
    "CREATE INDEX deliveries_waiting ON deliveries(recipient, lane, sender, rank) WHERE wait=0;"
    "CREATE INDEX deliveries_held ON deliveries(recipient) WHERE wait BETWEEN 1 AND 2;"
    "CREATE INDEX deliveries_due ON deliveries(available_at) WHERE wait=1;"
    "CREATE INDEX deliveries_expiring ON deliveries(expires_at) WHERE wait<3;"
    "CREATE INDEX deliveries_dead ON deliveries(key) WHERE wait=4;"
    "CREATE INDEX deliveries_dead_of ON deliveries(recipient) WHERE wait=4;"
    "ALTER TABLE delivery_history ADD COLUMN way TEXT;"
    "ALTER TABLE delivery_history ADD COLUMN evidence TEXT;"
    "ALTER TABLE streams RENAME TO streams_of_before;"
    "CREATE TABLE streams("
    " topic TEXT NOT NULL, sender INTEGER NOT NULL, recipient INTEGER NOT NULL, lane INTEGER NOT NULL,"
    " last INTEGER NOT NULL, acked INTEGER NOT NULL, PRIMARY KEY(sender, recipient, topic, lane)) WITHOUT ROWID;"
    "INSERT INTO streams(topic,sender,recipient,lane,last,acked)"
    " SELECT topic,sender,recipient,0,last,acked FROM streams_of_before;"
    "DROP TABLE streams_of_before;"
    "ALTER TABLE agents ADD COLUMN paused INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE agents ADD COLUMN pause_reason TEXT;"
    "ALTER TABLE agents ADD COLUMN policy TEXT;";

// Version 4: the event log. Events of messages and history entries are read from their rows (`ref`, `n`). Usage and
// session statistics have separate tables, so that sums need no scan of the log.
constexpr const char* kEvents =
    "CREATE TABLE events("
    " number INTEGER PRIMARY KEY, at INTEGER NOT NULL, type INTEGER NOT NULL, agent INTEGER NOT NULL,"
    " session INTEGER NOT NULL, ref INTEGER, n INTEGER, body TEXT);"
    "CREATE TABLE usage("
    " session INTEGER NOT NULL, request TEXT NOT NULL, agent INTEGER NOT NULL, model TEXT NOT NULL, thread TEXT,"
    " source TEXT, at INTEGER NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL, cache_read INTEGER NOT NULL,"
    " cache_write INTEGER NOT NULL, reasoning INTEGER NOT NULL, cost REAL, PRIMARY KEY(session, request)) WITHOUT "
    "ROWID;"
    "CREATE INDEX usage_by_time ON usage(at);"
    "CREATE TABLE work("
    " session INTEGER PRIMARY KEY, items INTEGER NOT NULL, commands INTEGER NOT NULL, at INTEGER NOT NULL);"
    "CREATE TABLE work_files(session INTEGER NOT NULL, path TEXT NOT NULL, PRIMARY KEY(session, path)) WITHOUT ROWID;";

// Version 5: fewer writes per message. The delivery row holds the newest entry of its history (`line_at` NULL: the
// implicit first entry); only earlier entries have their own rows. Times of messages are found by binary search,
// because keys and times grow together. The addressed recipient finds a message by the index of messages, so the index
// of deliveries has only the other recipients; earlier deliveries stay in both.
constexpr const char* kNewestLines =
    "DROP INDEX messages_by_ts;"
    "ALTER TABLE deliveries ADD COLUMN line INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE deliveries ADD COLUMN line_at INTEGER;"
    "ALTER TABLE deliveries ADD COLUMN reason TEXT;"
    "ALTER TABLE deliveries ADD COLUMN way TEXT;"
    "ALTER TABLE deliveries ADD COLUMN evidence TEXT;"
    "UPDATE deliveries SET (line,line_at,reason,way,evidence)=(SELECT h.n,h.at,h.reason,h.way,h.evidence"
    " FROM delivery_history h WHERE h.delivery=deliveries.key ORDER BY h.n DESC LIMIT 1)"
    " WHERE EXISTS(SELECT 1 FROM delivery_history h WHERE h.delivery=deliveries.key);"
    "DELETE FROM delivery_history WHERE n=(SELECT d.line FROM deliveries d WHERE d.key=delivery);"
    "DROP INDEX deliveries_by_recipient;"
    "ALTER TABLE deliveries ADD COLUMN addressed INTEGER NOT NULL DEFAULT 0;"
    "CREATE INDEX deliveries_by_recipient ON deliveries(recipient, message) WHERE addressed=0;";

// Version 6: subscriptions are rows, so adding one does not rewrite the others. Idle streams are removed; the highest
// number of a pair's removed streams stays. Messages are found by their topic.
constexpr const char* kSubscriptions =
    "CREATE TABLE subscriptions("
    " session TEXT NOT NULL, topic TEXT NOT NULL, PRIMARY KEY(session, topic)) WITHOUT ROWID;"
    "INSERT OR IGNORE INTO subscriptions(session,topic) SELECT s.id, t.value FROM sessions s,"
    " json_each(CASE WHEN json_valid(s.topics) THEN s.topics ELSE '[]' END) t WHERE s.ended=0 AND t.type='text';"
    "UPDATE sessions SET topics='[]' WHERE topics<>'[]';"
    "CREATE TABLE stream_marks("
    " sender INTEGER NOT NULL, recipient INTEGER NOT NULL, lane INTEGER NOT NULL, last INTEGER NOT NULL,"
    " PRIMARY KEY(sender, recipient, lane)) WITHOUT ROWID;"
    "CREATE INDEX messages_by_topic ON messages(topic) WHERE topic IS NOT NULL;";

// Version 7: messages sent and received by each agent, counted by the writer. The rows of messages cannot be
// counted instead, because retention removes them.
constexpr const char* kCounts =
    "CREATE TABLE message_counts(name INTEGER PRIMARY KEY, sent INTEGER NOT NULL, received INTEGER NOT NULL);"
    "INSERT INTO message_counts(name,sent,received) SELECT n.id, coalesce(s.messages,0), coalesce(r.deliveries,0)"
    " FROM agents a JOIN names n ON n.name=a.name"
    " LEFT JOIN (SELECT sender, count(*) AS messages FROM messages GROUP BY sender) s ON s.sender=n.id"
    " LEFT JOIN (SELECT recipient, count(*) AS deliveries FROM deliveries WHERE state=2 GROUP BY recipient) r"
    " ON r.recipient=n.id;";

// Version 8: columns and tables get the terms that the wire and the code use. A rename changes only the schema: it
// touches no row and no index, so this step costs the same for every size of database.
constexpr const char* kTerms =
    "ALTER TABLE deliveries RENAME COLUMN carriage TO frame_kind;"
    "ALTER TABLE deliveries RENAME COLUMN wait TO queue_state;"
    "ALTER TABLE deliveries RENAME COLUMN line TO entry;"
    "ALTER TABLE deliveries RENAME COLUMN line_at TO entry_at;"
    "ALTER TABLE deliveries RENAME COLUMN way TO via;"
    "ALTER TABLE delivery_history RENAME COLUMN way TO via;"
    "ALTER TABLE events RENAME COLUMN number TO seq;"
    "ALTER TABLE work RENAME TO session_stats;"
    "ALTER TABLE work_files RENAME TO session_files;";

// Merges less often than the default: half the writes of the index, for a search that reads some more segments.
constexpr const char* kFullTextMerging = "INSERT INTO message_text(message_text, rank) VALUES('automerge', 8);";

struct Step {
  const char* sql[2];
};
constexpr Step kSteps[] = {{{kTables, nullptr}},
                           {{kFullText, kSeedView}},
                           {{kLanes, nullptr}},
                           {{kEvents, nullptr}},
                           {{kNewestLines, kFullTextMerging}},
                           {{kSubscriptions, nullptr}},
                           {{kCounts, nullptr}},
                           {{kTerms, nullptr}}};
static_assert(std::size(kSteps) == kSchemaVersion);

}  // namespace

Result<void> check_identity(SqliteConnection& connection) {
  // Counting the tables reads the schema: this fails for a file that is not a database, or a broken one.
  const auto tables = RELAY_TRY(connection.integer("SELECT count(*) FROM sqlite_schema"));
  const auto application = RELAY_TRY(connection.integer("PRAGMA application_id"));
  const auto version = RELAY_TRY(connection.integer("PRAGMA user_version"));
  if (tables == 0 && version == 0 && (application == 0 || application == kApplicationId)) return {};
  if (application != kApplicationId || version < 1) {
    return fail(Errc::Damaged, format("{} is not a message store of Agent Relay", connection.path()));
  }
  if (version > kSchemaVersion) {
    return fail(Errc::Newer,
                format("{} was written by a newer Agent Relay (store version {}, this one supports {}); install "
                       "that version, or move the file away to start a new store",
                       connection.path(), version, kSchemaVersion));
  }
  return {};
}

Result<void> migrate(SqliteConnection& connection, int version) {
  const auto applied = RELAY_TRY(connection.integer("PRAGMA user_version"));
  if (applied >= version) return {};
  const auto run = [&]() -> Result<void> {
    RELAY_TRY(connection.execute("BEGIN IMMEDIATE"));
    for (auto step = applied; step < version; ++step) {
      for (const char* sql : kSteps[step].sql) {
        if (sql != nullptr) RELAY_TRY(connection.execute(sql));
      }
    }
    RELAY_TRY(connection.execute(format("PRAGMA application_id={}", kApplicationId).c_str()));
    RELAY_TRY(connection.execute(format("PRAGMA user_version={}", version).c_str()));
    return connection.execute("COMMIT");
  };
  auto done = run();
  if (!done) connection.rollback();
  return done;
}

Result<void> recreate_full_text(SqliteConnection& connection) {
  connection.drop_statements();
  const auto run = [&]() -> Result<void> {
    RELAY_TRY(connection.execute("BEGIN IMMEDIATE"));
    // SQLite cannot drop a broken index; after its shadow table is emptied (no averages, no segments) it can.
    connection.set_inner_tables(SqliteConnection::InnerTables::Writable);
    RELAY_TRY(
        connection.execute("DELETE FROM message_text_data;"
                           "INSERT INTO message_text_data(id,block) VALUES(1,x''),(10,x'00000000000000')"));
    connection.set_inner_tables(SqliteConnection::InnerTables::Protected);
    RELAY_TRY(connection.execute("DROP TABLE IF EXISTS message_text"));
    RELAY_TRY(connection.execute(kFullText));
    RELAY_TRY(connection.execute(kFullTextMerging));
    RELAY_TRY(connection.execute("DELETE FROM meta WHERE name='indexed_key'"));
    return connection.execute("COMMIT");
  };
  auto done = run();
  connection.set_inner_tables(SqliteConnection::InnerTables::Protected);
  if (!done) connection.rollback();
  return done;
}

}  // namespace relay::store
