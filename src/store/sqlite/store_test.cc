#include "store/sqlite/store.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/random.h"
#include "store/journal/recovery.h"
#include "store/sqlite/checked_pages.h"
#include "store/sqlite/files.h"
#include "store/sqlite/load.h"
#include "store/sqlite/queries.h"
#include "store/sqlite/schema.h"
#include "store/testing/sample_records.h"
#include "store/testing/sim_disk.h"

namespace relay::store {
namespace {

namespace fs = std::filesystem;
using namespace records;
using namespace sample;

class SqliteFile : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::temp_directory_path() / ("relay-store-" + SystemRandom{}.hex(8));
    fs::create_directory(directory_);
    path_ = directory_ / "messages.sqlite";
  }
  void TearDown() override {
    fs::permissions(directory_, fs::perms::owner_all);
    fs::remove_all(directory_);
  }

  Result<std::unique_ptr<SqliteStore>> try_open(const fs::path& path) {
    return SqliteStore::open({.path = path, .durability = Durability::Process, .now = kStart});
  }
  std::unique_ptr<SqliteStore> open() {
    auto store = try_open(path_);
    EXPECT_TRUE(store) << store.error().message();
    return *std::move(store);
  }
  static std::string bytes_of(const fs::path& path) {
    std::ifstream in{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
  static void write(const fs::path& path, const std::string& bytes) { std::ofstream{path, std::ios::binary} << bytes; }
  /// Runs SQL on the file without the store.
  void execute_sql(const char* sql) {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open_v2(path_.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                              register_checked_vfs("").c_str()),
              SQLITE_OK);
    char* error = nullptr;
    EXPECT_EQ(sqlite3_exec(handle, sql, nullptr, nullptr, &error), SQLITE_OK) << error;
    sqlite3_close(handle);
  }
  std::vector<std::string> names() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator{directory_}) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

  fs::path directory_, path_;
};

TEST_F(SqliteFile, ReopensWithItsContent) {
  ASSERT_TRUE(commit(*open(), direct(1, "Alice", "Bob", "hello")));
  auto store = open();
  EXPECT_EQ(store->warning(), "");
  EXPECT_EQ(store->messages(QueryBuilder{})->size(), 1u);
  EXPECT_EQ(store->load()->newest, Key{2});
}

TEST_F(SqliteFile, KeepsEveryCommitOfKilledProcess) {
  auto store = open();
  for (std::int64_t key = 1; key < 100; key += 2) ASSERT_TRUE(commit(*store, direct(key, "Alice", "Bob", "hello")));
  // The files after a kill: the log is not checkpointed.
  const auto copy = directory_ / "copy.sqlite";
  fs::copy_file(path_, copy);
  fs::copy_file(path_.string() + "-wal", copy.string() + "-wal");
  auto again = try_open(copy);
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ((*again)->warning(), "");
  EXPECT_EQ((*again)->messages(QueryBuilder{}.limit(100))->size(), 50u);
}

TEST_F(SqliteFile, FileIsReadableByOwnerOnly) {
  const auto before = ::umask(0);
  auto store = open();
  ASSERT_TRUE(commit(*store, direct(1, "Alice", "Bob", "hello")));
  ::umask(before);
  for (const auto& entry : fs::directory_iterator{directory_}) {
    EXPECT_EQ(entry.status().permissions(), fs::perms::owner_read | fs::perms::owner_write) << entry.path();
  }
}

TEST_F(SqliteFile, DamagedFileIsQuarantinedAndReplaced) {
  const std::string junk = "this is no database, but it may be needed later" + std::string(5'000, '!');
  write(path_, junk);
  write(path_.string() + "-wal", "its log");
  auto store = open();
  EXPECT_NE(store->warning().find("messages.sqlite.damaged-20231114T221320Z"), std::string::npos) << store->warning();
  EXPECT_EQ(bytes_of(path_.string() + ".damaged-20231114T221320Z"), junk);
  EXPECT_EQ(bytes_of(path_.string() + ".damaged-20231114T221320Z-wal"), "its log");
  ASSERT_TRUE(commit(*store, direct(1, "Alice", "Bob", "hello")));
  store.reset();
  write(path_, "damaged again");
  store = open();
  EXPECT_EQ(bytes_of(path_.string() + ".damaged-20231114T221320Z"), junk) << "never overwritten";
  EXPECT_EQ(bytes_of(path_.string() + ".damaged-20231114T221320Z-2"), "damaged again");
  EXPECT_TRUE(store->messages(QueryBuilder{})->empty());
}

constexpr std::int64_t kManyKeys = 1'200;  // a message and its delivery each

class DamagedFile : public SqliteFile {
 protected:
  void SetUp() override {
    SqliteFile::SetUp();
    auto store = open();
    Changes many;
    for (std::int64_t key = 1; key < kManyKeys; key += 2)
      std::ranges::move(direct(key, "Alice", "Bob", std::string(300, 'x'), static_cast<std::uint64_t>(key)),
                        std::back_inserter(many));
    ASSERT_TRUE(commit(*store, many));
    store.reset();
    whole_ = bytes_of(path_);
  }
  /// Opens a damaged file; every message found is intact, and the missing ones are counted.
  void check(const std::string& bytes) {
    for (const auto& entry : fs::directory_iterator{directory_}) fs::remove(entry.path());
    write(path_, bytes);
    auto store = open();
    ASSERT_TRUE(store->finish_recovery(kManyKeys / 2));
    const auto rows = store->messages(QueryBuilder{}.limit(10'000));
    ASSERT_TRUE(rows) << rows.error().message();
    std::uint64_t delivered = 0;
    for (const auto& row : *rows) {
      EXPECT_NE(row.message.payload.find("\"" + std::string(300, 'x') + "\""), std::string::npos);
      if (row.deliveries > 0) ++delivered;
    }
    EXPECT_GE(delivered + store->damage().lost_messages, kManyKeys / 2) << store->warning();
    if (bytes == whole_) {
      EXPECT_EQ(store->warning(), "");
    } else {
      EXPECT_EQ(bytes_of(store->damage().files.at(0)), bytes) << "quarantined unchanged";
    }
    lost_ = store->damage().lost_messages;
  }

  std::string whole_;
  std::uint64_t lost_ = 0;
};

TEST_F(DamagedFile, FlippedByteIsFoundAndLosesOnlyItsPage) {
  check(whole_);
  SeededRandom random{7};
  std::uint64_t total = 0;
  for (int round = 0; round < 40; ++round) {
    auto bytes = whole_;
    const auto at = random.below(bytes.size());
    bytes[at] ^= static_cast<char>(1 << random.below(8));
    SCOPED_TRACE(format("flipped at {} of {}", at, bytes.size()));
    check(bytes);
    if (HasFailure()) return;
    total += lost_;
  }
  EXPECT_LT(total / 40, 150u) << "on average the rows of a page or two";
}

TEST_F(DamagedFile, BrokenHeaderLosesNothing) {
  for (const std::size_t at : {0u, 17u, 20u, 30u, 60u}) {
    auto bytes = whole_;
    bytes[at] ^= 0x5a;
    SCOPED_TRACE(format("flipped at {}", at));
    check(bytes);
    EXPECT_EQ(lost_, 0u);
  }
}

TEST_F(DamagedFile, CutEmptiedOrZeroedFileIsFound) {
  check(whole_.substr(0, whole_.size() - 5'000));
  check(whole_.substr(0, whole_.size() / 2));
  auto bytes = whole_;
  bytes.replace(bytes.size() / 3, 20'000, std::string(20'000, '\0'));
  check(bytes);
  bytes = whole_;
  bytes.replace(3 * 8'192, 8'192, whole_.substr(5 * 8'192, 8'192));  // a page in the place of another
  check(bytes);

  // To SQLite an emptied file is a new database: the mark of the journal beside it gives the number of lost messages.
  for (const auto& entry : fs::directory_iterator{directory_}) fs::remove(entry.path());
  write(path_, whole_);
  const SqliteOptions options{.path = path_, .durability = Durability::Process, .now = kStart};
  {
    const auto store = open();
    const auto journal = recover_journal(*store, options).value();
    ASSERT_TRUE(journal->skip_to({.commits = 1, .messages = kManyKeys / 2}));
    ASSERT_TRUE(journal->mark());
  }
  write(path_, "");
  const auto store = open();
  EXPECT_TRUE(store->messages(QueryBuilder{})->empty());
  const auto journal = recover_journal(*store, options).value();
  EXPECT_EQ(journal->damage().lost_messages, kManyKeys / 2u) << journal->damage().message();
  EXPECT_NE(journal->damage().message().find("600 acknowledged messages are lost"), std::string::npos)
      << journal->damage().message();
}

TEST_F(SqliteFile, KeepsBoundedNumberOfQuarantinedFiles) {
  for (int round = 0; round < 12; ++round) {
    write(path_, format("damaged {}", round));
    open();
  }
  std::size_t quarantined = 0;
  for (const auto& name : names()) quarantined += name.find(".damaged-") != std::string::npos ? 1u : 0u;
  EXPECT_EQ(quarantined, kMaxQuarantined);
}

TEST_F(SqliteFile, DatabaseOfAnotherProgramStaysIntact) {
  execute_sql("CREATE TABLE messages(id TEXT PRIMARY KEY, body TEXT); INSERT INTO messages VALUES('a','precious')");
  const auto before = bytes_of(path_);
  auto store = open();
  EXPECT_NE(store->warning().find("not a message store of Agent Relay"), std::string::npos) << store->warning();
  EXPECT_EQ(bytes_of(path_.string() + ".damaged-20231114T221320Z"), before);
}

TEST_F(SqliteFile, RefusesFileOfNewerVersion) {
  ASSERT_TRUE(commit(*open(), direct(1, "Alice", "Bob", "hello")));
  execute_sql("PRAGMA user_version=999");
  const auto before = names();
  const auto store = try_open(path_);
  ASSERT_FALSE(store);
  EXPECT_TRUE(is(store.error(), Errc::Newer));
  EXPECT_NE(store.error().message().find("newer Agent Relay"), std::string::npos);
  EXPECT_EQ(names(), before);
}

TEST_F(SqliteFile, MigratesVersionOne) {
  {
    auto connection = SqliteConnection::open(path_, "", Access::ReadWrite);
    ASSERT_TRUE(connection && migrate(**connection, 1));
    ASSERT_TRUE((*connection)
                    ->execute("INSERT INTO names VALUES(1,'Alice'),(2,'Bob');"
                              "INSERT INTO messages(key,id,ts,sender,recipient,payload) "
                              "VALUES(7,'m',5,1,2,'{\"body\":\"old words\"}')"));
  }
  auto store = open();
  EXPECT_EQ(store->warning(), "");
  EXPECT_EQ(store->messages(QueryBuilder{}.search("words"))->size(), 1u);
  ASSERT_TRUE(store->index_step(100));
  EXPECT_EQ(store->messages(QueryBuilder{}.search("words"))->size(), 1u);
}

TEST_F(SqliteFile, MigratesVersionTwo) {
  {
    auto connection = SqliteConnection::open(path_, "", Access::ReadWrite);
    ASSERT_TRUE(connection && migrate(**connection, 2));
    const auto filled =
        (*connection)
            ->execute(
                "INSERT INTO names VALUES(1,'Alice'),(2,'Bob'),(3,'Carol');"
                "INSERT INTO messages(key,id,ts,sender,recipient,payload_meta,payload) VALUES"
                "(1,'a',5,1,2,NULL,'{}'),(3,'b',6,3,2,'{\"delivery\":{\"mode\":\"manual\",\"idempotencyKey\":\"k\"}}','"
                "{}'),"
                "(5,'c',7,1,2,NULL,'{}'),(7,'d',8,1,2,NULL,'{}'),(9,'e',9,1,2,NULL,'{}'),(11,'f',10,1,2,NULL,'{}');"
                // queued, accepted, delivered, failed, cancelled, deferred
                "INSERT INTO deliveries(key,message,recipient,seq,carriage,state,proof,expires_at,queued_offline) "
                "VALUES"
                "(2,1,2,1,0,0,0,900,0),(4,3,2,1,0,1,1,800,1),(6,5,2,2,0,2,4,900,0),(8,7,2,3,0,4,0,900,0),(10,9,2,4,0,6,"
                "0,900,0),"
                "(12,11,2,5,0,3,0,900,0);"
                "INSERT INTO delivery_history(delivery,n,at,state,proof,reason) VALUES(8,1,50,4,0,'no room');"
                "INSERT INTO streams(topic,sender,recipient,last,acked) VALUES('',1,2,5,2),('t',3,2,1,0);"
                "INSERT INTO agents(name,entity,first_seen,last_seen) VALUES('Bob',0,1,2);"
                "INSERT INTO sessions(id,agent,capabilities,started,last_seen,ended,topics,shadows)"
                " VALUES('s','Bob','{\"ack\":true}',1,2,0,'[]','[]')");
    ASSERT_TRUE(filled) << filled.error().message();
  }
  auto store = open();
  EXPECT_EQ(store->warning(), "");
  const auto snapshot = store->load();
  ASSERT_TRUE(snapshot) << snapshot.error().message();
  EXPECT_EQ(snapshot->newest, Key{12});
  EXPECT_EQ(snapshot->next_expiry, 800);
  EXPECT_EQ(snapshot->next_due, 0);
  ASSERT_EQ(snapshot->streams.size(), 2u);
  EXPECT_EQ(snapshot->streams[0].last, Seq{5});
  EXPECT_EQ(snapshot->streams[0].acked, Seq{2});
  EXPECT_EQ(snapshot->streams[1].topic, Topic{"t"});
  EXPECT_EQ(snapshot->streams[1].lane, protocol::Lane{});
  EXPECT_FALSE(snapshot->agents.at(0).paused);
  EXPECT_FALSE(snapshot->sessions.at(0).capabilities.modes);
  ASSERT_EQ(snapshot->backlogs.size(), 2u);
  EXPECT_EQ(snapshot->backlogs[0].pending, 2u);
  EXPECT_EQ(snapshot->backlogs[0].held, 0u);
  EXPECT_EQ(snapshot->recent_keys.at(0).idempotency_key, "k");
  const auto alice = store->backlog(backlog_of("Bob"));
  ASSERT_EQ(alice->items.size(), 2u);
  EXPECT_EQ(alice->items[0].delivery.key, Key{2});
  EXPECT_EQ(alice->items[0].delivery.rank, Key{2});
  EXPECT_EQ(alice->items[1].delivery.seq, Seq{5});
  EXPECT_EQ(alice->items[1].delivery.state, DeliveryState::Deferred);
  const auto carol = store->backlog(backlog_of("Bob", 0, "Carol"));
  ASSERT_EQ(carol->items.size(), 1u) << "numbered in the only stream, whatever its mode";
  EXPECT_EQ(carol->items[0].delivery.lane, protocol::Lane{});
  const auto dead = store->deliveries({});
  ASSERT_EQ(dead->size(), 1u);
  EXPECT_EQ(dead->at(0).delivery.key, Key{8});
  EXPECT_EQ(dead->at(0).last.reason, "no room");
  ASSERT_TRUE(commit(*store, direct(13, "Alice", "Bob", "new", 6)));
  EXPECT_EQ(store->backlog(backlog_of("Bob"))->items.size(), 3u);
  EXPECT_EQ(store->stats()->pending, 4u);
}

TEST_F(SqliteFile, MigratesVersionFour) {
  {
    auto connection = SqliteConnection::open(path_, "", Access::ReadWrite);
    ASSERT_TRUE(connection && migrate(**connection, 4));
    const auto filled =
        (*connection)
            ->execute(
                "INSERT INTO names VALUES(1,'Alice'),(2,'Bob'),(3,'delivery.accepted'),(4,'delivery.delivered');"
                "INSERT INTO messages(key,id,ts,sender,recipient,payload) VALUES(1,'a',5,1,2,'{}'),(5,'b',6,1,2,'{}');"
                // without changes, accepted with a reason, delivered via pty
                "INSERT INTO deliveries(key,message,sender,recipient,rank,seq,carriage,state,proof,wait,expires_at,"
                "queued_offline) VALUES(2,1,1,2,2,1,0,0,0,0,900,0),(3,1,1,2,3,2,0,1,1,0,900,0),"
                "(6,5,1,2,6,3,0,2,4,3,900,0);"
                "INSERT INTO delivery_history(delivery,n,at,state,proof,reason,way,evidence) VALUES"
                "(3,0,7,1,1,'a reason',NULL,NULL),(6,1,8,1,1,NULL,'pty',NULL),(6,2,9,2,4,NULL,'pty','a hook');"
                "INSERT INTO events(number,at,type,agent,session,ref,n) VALUES(1,8,3,2,0,6,1),(2,9,4,2,0,6,2)");
    ASSERT_TRUE(filled) << filled.error().message();
  }
  auto store = open();
  EXPECT_EQ(store->warning(), "");
  const auto history_of = [&](std::int64_t message, std::size_t delivery) {
    std::string lines;
    const auto trace = store->trace(short_id(Key{message})).value();
    for (const auto& line : trace.deliveries.at(delivery).history)
      lines += format("{} {} {} {} {} {};", line.at, name_of(line.state), name_of(line.proof), line.reason, line.via,
                      line.evidence);
    return lines;
  };
  EXPECT_EQ(history_of(1, 0), "5 queued stored   ;");
  EXPECT_EQ(history_of(1, 1), "7 accepted accepted a reason  ;");
  const std::string delivered = "6 queued stored   ;8 accepted accepted  pty ;9 delivered seen  pty a hook;";
  EXPECT_EQ(history_of(5, 0), delivered);
  const auto page = store->events({}).value();
  ASSERT_EQ(page.events.size(), 2u);
  EXPECT_NE(page.events[0].json.find(R"("state":"accepted")"), std::string::npos) << page.events[0].json;
  EXPECT_NE(page.events[1].json.find(R"("evidence":"a hook")"), std::string::npos) << page.events[1].json;
  ASSERT_TRUE(commit(*store, {change(3, DeliveryState::Delivered), change(2, DeliveryState::Accepted)}));
  EXPECT_EQ(history_of(1, 1), format("7 accepted accepted a reason  ;{} delivered accepted because  ;", kStart + 500));
  EXPECT_EQ(history_of(1, 0), format("5 queued stored   ;{} accepted accepted because  ;", kStart + 500));
  EXPECT_EQ(store->messages(QueryBuilder{}.since(6 + 3'600'000))->size(), 0u);
  EXPECT_EQ(store->messages(QueryBuilder{}.since(6))->size(), 1u);
}

TEST_F(SqliteFile, MigratesVersionFive) {
  {
    auto connection = SqliteConnection::open(path_, "", Access::ReadWrite);
    ASSERT_TRUE(connection && migrate(**connection, 5));
    const auto filled =
        (*connection)
            ->execute(
                "INSERT INTO names VALUES(1,'Alice'),(2,'Bob');"
                "INSERT INTO messages(key,id,ts,sender,recipient,topic,payload) VALUES(1,'a',5,1,2,'deploys','{}');"
                "INSERT INTO agents(name,entity,first_seen,last_seen) VALUES('Bob',0,1,2);"
                "INSERT INTO sessions(id,agent,capabilities,started,last_seen,ended,topics,shadows) VALUES"
                "('s','Bob','{\"ack\":true}',1,2,0,'[\"b\",\"a \\\"quoted\\\"\",\"b\"]','[]'),"
                "('t','Bob','{}',1,2,3,'[\"over\"]','[]'),('u','Bob','{}',0,0,0,'broken','[]')");
    ASSERT_TRUE(filled) << filled.error().message();
  }
  auto store = open();
  EXPECT_EQ(store->warning(), "");
  const auto snapshot = store->load().value();
  ASSERT_EQ(snapshot.sessions.size(), 2u);
  EXPECT_EQ(snapshot.sessions[0].topics, (std::vector<std::string>{"a \"quoted\"", "b"}));
  EXPECT_TRUE(snapshot.sessions[1].topics.empty());
  EXPECT_TRUE(snapshot.stream_marks.empty());
  MessageQuery query;
  query.topic = "deploys";
  EXPECT_EQ(store->messages(query)->size(), 1u);
}

TEST_F(SqliteFile, MigrationFromVersionSixCountsMessages) {
  {
    auto connection = SqliteConnection::open(path_, "", Access::ReadWrite);
    ASSERT_TRUE(connection && migrate(**connection, 6));
    const auto filled =
        (*connection)
            ->execute(
                "INSERT INTO names VALUES(1,'Alice'),(2,'Bob');"
                "INSERT INTO messages(key,id,ts,sender,recipient,payload) VALUES(1,'a',5,1,2,'{}'),(3,'b',5,1,2,'{}');"
                "INSERT INTO "
                "deliveries(key,message,recipient,seq,carriage,state,proof,expires_at,queued_offline,sender,"
                "rank,wait) VALUES(2,1,2,1,0,2,1,0,0,1,2,3),(4,3,2,2,0,0,0,0,0,1,4,0);"
                "INSERT INTO agents(name,entity,first_seen,last_seen) VALUES('Alice',0,1,2),('Bob',0,1,2);");
    ASSERT_TRUE(filled) << filled.error().message();
  }
  const auto snapshot = open()->load().value();
  ASSERT_EQ(snapshot.counts.size(), 2u);
  EXPECT_EQ(snapshot.counts[0].sent, 2u);
  EXPECT_EQ(snapshot.counts[1].received, 1u) << "only delivered messages count";
}

/// A database of version 7 with rows in every table, made by the steps of that version.
void write_version_seven(const fs::path& path) {
  auto connection = SqliteConnection::open(path, "", Access::ReadWrite);
  ASSERT_TRUE(connection && (*connection)->execute("PRAGMA page_size=8192; PRAGMA auto_vacuum=INCREMENTAL"));
  ASSERT_TRUE(migrate(**connection, 7));
  const auto filled = (*connection)->execute(R"sql(
INSERT INTO names VALUES(1,'Alice'),(2,'Bob'),(3,'delivery.created'),(4,'delivery.accepted'),(5,'message.exchanged'),
  (6,'s1'),(7,'item.started'),(8,'delivery.failed'),(9,'session.ended');
INSERT INTO messages(key,id,ts,sender,recipient,topic,kind,thread,session,payload_meta,payload) VALUES
  (1,'a',1000,1,2,'deploys',NULL,'t1','s1','{"m":1}','{"body":"waits in its lane"}'),
  (3,'b',2000,1,2,NULL,'state',NULL,'s1',NULL,'{"body":"is held for a time"}'),
  (5,'c',3000,1,2,NULL,NULL,NULL,'s1',NULL,'{"body":"is held by the policy"}'),
  (7,'d',4000,1,2,NULL,NULL,NULL,'s1',NULL,'{"body":"was delivered"}'),
  (9,'e',5000,1,2,NULL,NULL,NULL,'s1',NULL,'{"body":"failed"}');
INSERT INTO deliveries(key,message,recipient,seq,carriage,shadow_of,state,proof,expires_at,queued_offline,sender,lane,
  rank,wait,available_at,attempts,line,line_at,reason,way,evidence,addressed) VALUES
  (2,1,2,1,1,NULL,0,0,9000,1,1,0,2,0,0,0,0,NULL,NULL,NULL,NULL,1),
  (4,3,2,2,2,'Carol',3,0,9000,0,1,0,4,1,7000,2,1,2100,'busy','pty',NULL,1),
  (6,5,2,3,0,NULL,3,0,9000,0,1,0,6,2,0,0,1,3100,'policy',NULL,NULL,1),
  (8,7,2,4,0,NULL,2,4,9000,0,1,0,8,3,0,0,2,4200,NULL,'inbox','a transcript',0),
  (10,9,2,5,0,NULL,4,0,9000,0,1,0,10,4,0,1,1,5100,'no room','hook',NULL,1);
INSERT INTO delivery_history(delivery,n,at,state,proof,reason,way,evidence) VALUES
  (8,1,4100,1,1,'taken','hook','its call');
INSERT INTO streams(topic,sender,recipient,lane,last,acked) VALUES('',1,2,0,5,4);
INSERT INTO stream_marks(sender,recipient,lane,last) VALUES(2,1,0,17);
INSERT INTO agents(name,entity,cli,first_seen,last_seen,paused,pause_reason) VALUES
  ('Alice',1,NULL,1,2,0,NULL),('Bob',0,'claude',3,4,1,'lunch');
INSERT INTO sessions(id,agent,capabilities,started,last_seen,ended,topics,shadows) VALUES
  ('s1','Alice','{"ack":true}',10,20,0,'[]','[]'),('s2','Bob','{}',10,20,30,'[]','[]');
INSERT INTO subscriptions(session,topic) VALUES('s1','deploys');
INSERT INTO channel_members(channel,member) VALUES('#ops','Bob');
INSERT INTO outbox_marks(sender,epoch,high,refused,updated) VALUES('Alice','e1',9,'[4]',50);
INSERT INTO proposals(id,title,proposer,participants,votes,created,expires_at,quorum,threshold) VALUES
  ('p','Merge','Alice','["Bob"]','[]',1,2,1,0.5);
INSERT INTO message_counts(name,sent,received) VALUES(1,5,0),(2,0,1);
INSERT INTO events(number,at,type,agent,session,ref,n,body) VALUES
  (11,1000,5,1,6,1,NULL,NULL),(12,1000,3,2,0,2,0,NULL),(13,4100,4,2,0,8,1,NULL),(14,5100,8,2,0,10,1,NULL),
  (15,5200,7,1,6,NULL,NULL,'{"title":"a build"}');
INSERT INTO usage(session,request,agent,model,thread,source,at,input,output,cache_read,cache_write,reasoning,cost) VALUES
  (6,'r1',1,'opus','t1','transcript',1500,10,20,30,40,50,0.25);
INSERT INTO work(session,items,commands,at) VALUES(6,3,2,5000);
INSERT INTO work_files(session,path) VALUES(6,'a.cc'),(6,'b.cc');
INSERT INTO message_text(rowid,body) VALUES(1,'waits in its lane');
INSERT INTO meta(name,value) VALUES('newest_event',15),('newest_key',10),('indexed_key',1);
)sql");
  ASSERT_TRUE(filled) << filled.error().message();
}

TEST_F(SqliteFile, MigrationFromVersionSevenKeepsEveryRow) {
  write_version_seven(path_);
  auto store = open();
  EXPECT_EQ(store->warning(), "");

  const auto loaded = store->load();
  ASSERT_TRUE(loaded) << loaded.error().message();
  const auto& state = *loaded;
  EXPECT_EQ(state.newest, Key{10});
  EXPECT_EQ(state.newest_event, 15u);
  ASSERT_EQ(state.agents.size(), 2u);
  EXPECT_EQ(state.agents[1].cli, "claude");
  EXPECT_EQ(state.agents[1].pause_reason, "lunch");
  ASSERT_EQ(state.counts.size(), 2u);
  EXPECT_EQ(state.counts[0].sent, 5u);
  EXPECT_EQ(state.counts[1].received, 1u);
  ASSERT_EQ(state.sessions.size(), 1u);
  EXPECT_EQ(state.sessions[0].topics, std::vector<std::string>{"deploys"});
  EXPECT_EQ(state.streams.at(0).last, Seq{5});
  EXPECT_EQ(state.stream_marks.at(0).last, Seq{17});
  EXPECT_EQ(state.memberships.at(0).channel, "#ops");
  EXPECT_EQ(state.marks.at(0).refused, std::vector<std::uint64_t>{4});
  EXPECT_EQ(state.proposals.at(0).title, "Merge");
  EXPECT_EQ(state.next_due, 7'000);
  EXPECT_EQ(state.next_expiry, 9'000);
  ASSERT_EQ(state.backlogs.size(), 1u);
  EXPECT_EQ(state.backlogs[0].pending, 3u);
  EXPECT_EQ(state.backlogs[0].held, 2u);

  const auto history_of = [&](std::int64_t message) {
    std::string entries;
    const auto trace = store->trace(short_id(Key{message})).value();
    for (const auto& entry : trace.deliveries.at(0).history)
      entries += format("{} {} {} {} {} {};", entry.at, name_of(entry.state), name_of(entry.proof), entry.reason,
                        entry.via, entry.evidence);
    return entries;
  };
  EXPECT_EQ(history_of(1), "1000 queued stored   ;");
  EXPECT_EQ(history_of(3), "2000 queued stored   ;2100 deferred stored busy pty ;");
  EXPECT_EQ(history_of(5), "3000 queued stored   ;3100 deferred stored policy  ;");
  EXPECT_EQ(
      history_of(7),
      "4000 queued stored   ;4100 accepted accepted taken hook its call;4200 delivered seen  inbox a transcript;");
  EXPECT_EQ(history_of(9), "5000 queued stored   ;5100 failed stored no room hook ;");

  const auto backlog = store->backlog(backlog_of("Bob")).value();
  ASSERT_EQ(backlog.items.size(), 1u);
  EXPECT_EQ(backlog.items[0].delivery.frame_kind, FrameKind::ChannelMessage);
  EXPECT_TRUE(backlog.items[0].delivery.queued_offline);
  EXPECT_EQ(backlog.items[0].message.payload_meta, "{\"m\":1}");
  HeldRequest held;
  held.to = AgentName{"Bob"};
  const auto held_rows = store->held(held)->items;
  ASSERT_EQ(held_rows.size(), 2u);
  EXPECT_EQ(held_rows[0].delivery.hold, Hold::Time);
  EXPECT_EQ(held_rows[0].delivery.shadow_of, "Carol");
  EXPECT_EQ(held_rows[0].delivery.attempts, 2u);
  EXPECT_EQ(held_rows[1].delivery.hold, Hold::Policy);
  EXPECT_EQ(store->deliveries({})->at(0).last.reason, "no room");
  EXPECT_EQ(store->stats()->dead, 1u);
  EXPECT_EQ(store->messages(QueryBuilder{}.limit(10))->size(), 5u);
  EXPECT_EQ(store->messages(QueryBuilder{}.search("lane"))->size(), 1u);
  EXPECT_EQ(store->messages(QueryBuilder{}.delivered_to("Bob").unread_only())->size(), 3u);

  const auto events = store->events({}).value();
  ASSERT_EQ(events.events.size(), 5u);
  EXPECT_EQ(events.oldest, 11u);
  EXPECT_NE(events.events[2].json.find(R"("reason":"taken")"), std::string::npos) << events.events[2].json;
  EXPECT_NE(events.events[3].json.find(R"("reason":"no room")"), std::string::npos) << events.events[3].json;
  EXPECT_NE(events.events[4].json.find("a build"), std::string::npos) << events.events[4].json;
  EXPECT_EQ(store->usage({})->at(0).cost, 0.25);
  const auto session = store->session(SessionId{"s1"}).value();
  EXPECT_EQ(session.stats.items, 3);
  EXPECT_EQ(session.stats.files, (std::vector<std::string>{"a.cc", "b.cc"}));

  ASSERT_TRUE(commit(*store, {change(2, DeliveryState::Delivered),
                              AddSessionStats{SessionId{"s1"}, {.items = 1, .files = {"c.cc"}}, 6'000}}));
  EXPECT_EQ(store->newest_event().value(), 16u);
  EXPECT_EQ(store->session(SessionId{"s1"})->stats.files.size(), 3u);
  ASSERT_TRUE(store->begin());
  EXPECT_EQ(store->expire({.now = 10'000})->expired.size(), 2u);
  ASSERT_TRUE(store->commit());
  while (store->prune_step({.max_age_ms = 1, .max_event_age_ms = 1}, kStart + 1'000'000, 100).value()) {}
  EXPECT_EQ(store->events({})->events.size(), 0u);
  EXPECT_TRUE(store->messages(QueryBuilder{})->empty());
}

TEST_F(SqliteFile, SalvageReadsDamagedFileOfVersionSeven) {
  write_version_seven(path_);
  execute_sql(
      "WITH RECURSIVE n(n) AS (SELECT 101 UNION ALL SELECT n+2 FROM n WHERE n<1299)"
      "INSERT INTO messages(key,id,ts,sender,recipient,payload) SELECT n,'id',5000,1,2,printf('{\"body\":\"%.300c\"}',"
      "'x') FROM n;"
      "INSERT INTO "
      "deliveries(key,message,recipient,seq,carriage,state,proof,expires_at,queued_offline,sender,rank,wait,"
      "addressed) SELECT key+1,key,2,key,0,0,0,9000,0,1,key+1,0,1 FROM messages WHERE key>100;"
      "UPDATE meta SET value=1300 WHERE name='newest_key'");
  const auto whole = bytes_of(path_);
  const auto try_damage = [&](std::size_t at) {
    SCOPED_TRACE(format("damaged at {} of {}", at, whole.size()));
    auto bytes = whole;
    bytes[at] ^= 0x5a;
    for (const auto& entry : fs::directory_iterator{directory_}) fs::remove(entry.path());
    write(path_, bytes);
    auto store = open();
    ASSERT_TRUE(store->finish_recovery(605));
    EXPECT_NE(store->warning(), "");
    const auto rows = store->messages(QueryBuilder{}.limit(10'000)).value();
    std::uint64_t delivered = 0;
    for (const auto& row : rows) delivered += row.deliveries > 0 ? 1u : 0u;
    EXPECT_GE(delivered + store->damage().lost_messages, 605u) << store->warning();
    EXPECT_GE(delivered, 430u) << store->warning();
  };
  for (std::size_t at = 100; at < whole.size(); at += 6 * 8'192) try_damage(at);
  try_damage(8'000);  // of the schema itself
}

TEST_F(SqliteFile, FindsMessagesByTimeAfterClockWasSetBack) {
  constexpr WallMs kHalfAnHourMs = 1'800'000;
  auto store = open();
  Changes many;
  for (std::int64_t key = 1; key <= 1'000; ++key) {
    auto sent = message(key, "Alice", "#log", "hello");
    sent.ts = kStart + key * 60'000 - (key >= 500 ? kHalfAnHourMs : 0);
    many.push_back(AddMessage{sent});
  }
  ASSERT_TRUE(commit(*store, many));
  for (const std::int64_t minute : {0, 300, 471, 485, 499, 600, 969, 970, 971}) {
    const auto since = kStart + minute * 60'000;
    std::size_t expected = 0;
    for (const auto& one : many) expected += std::get<AddMessage>(one).message.ts >= since ? 1u : 0u;
    EXPECT_EQ(store->messages(QueryBuilder{}.limit(2'000).since(since))->size(), expected) << minute;
  }
  while (store->prune_step({.max_age_ms = 1}, kStart + 490 * 60'000, 50).value()) {}
  const auto remaining = store->messages(QueryBuilder{}.limit(2'000).ascending()).value();
  for (const auto& row : remaining) EXPECT_GE(row.message.ts, kStart + 460 * 60'000);
  EXPECT_GE(remaining.size(), 481u) << "no newer message is removed";
}

TEST_F(SqliteFile, ViewHasColumnsOfSpecification) {
  auto sent = message(1, "Alice", "Bob", "hello");
  sent.payload = R"({"kind":"message","body":"hello","data":{"a":1}})";
  ASSERT_TRUE(commit(*open(), {AddMessage{sent}, AddDelivery{delivery(2, 1, "Bob", 42)}}));
  execute_sql(
      "CREATE TABLE result AS SELECT concat_of FROM (SELECT "
      "id||'|'||ts||'|'||sender||'|'||recipient||'|'||ifnull(topic,'-')||'|'||kind||'|'||body"
      "||'|'||data||'|'||delivery_seq||'|'||ifnull(delivery_session_id,'-')||'|'||session_id AS concat_of FROM "
      "seed_messages)");
  auto connection = *SqliteConnection::open(path_, "", Access::ReadWrite);
  auto row = connection->prepare("SELECT concat_of FROM result");
  ASSERT_TRUE(row && row->step().value());
  EXPECT_EQ(row->text(0), R"(id-1|1700000000001|Alice|Bob|-|message|hello|{"a":1}|42|-|session-of-Alice)");
}

TEST_F(SqliteFile, OpenErrorNamesReason) {
  const auto nowhere = try_open(directory_ / "missing" / "messages.sqlite");
  ASSERT_FALSE(nowhere);
  EXPECT_TRUE(is(nowhere.error(), Errc::ReadOnly)) << nowhere.error().message();
  EXPECT_NE(nowhere.error().message().find("No such file or directory"), std::string::npos)
      << nowhere.error().message();
  const auto directory = try_open(directory_);
  ASSERT_FALSE(directory);
  EXPECT_FALSE(is(directory.error(), Errc::Damaged)) << directory.error().message();
}

TEST_F(SqliteFile, ReadOnlyDirectoryIsReported) {
  { open(); }
  fs::permissions(directory_,
                  fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
  fs::permissions(path_, fs::perms::owner_read | fs::perms::others_read);
  const bool root = ::geteuid() == 0;
  constexpr uid_t kOtherUid = 65534;
  ASSERT_TRUE(!root || ::seteuid(kOtherUid) == 0);  // root may write anywhere
  const auto store = try_open(path_);
  const auto fresh = try_open(directory_ / "new.sqlite");
  ASSERT_TRUE(!root || ::seteuid(0) == 0);
  ASSERT_FALSE(store);
  EXPECT_TRUE(is(store.error(), Errc::ReadOnly)) << store.error().message();
  ASSERT_FALSE(fresh);
  EXPECT_TRUE(is(fresh.error(), Errc::ReadOnly)) << fresh.error().message();
  EXPECT_EQ(names(), std::vector<std::string>{"messages.sqlite"}) << "an unreadable file is not quarantined";
}

TEST_F(SqliteFile, ReadsBesideTheWriter) {
  auto store = open();
  auto reader = store->open_reader();
  ASSERT_TRUE(reader && *reader) << reader.error().message();
  std::thread reading{[&] {
    std::size_t before = 0;
    while (before < 100) {
      const auto rows = (*reader)->messages(QueryBuilder{}.limit(1'000));
      ASSERT_TRUE(rows) << rows.error().message();
      ASSERT_GE(rows->size(), before);
      for (const auto& row : *rows) ASSERT_EQ(row.deliveries, 1u) << "a group is read as a whole";
      before = rows->size();
    }
  }};
  for (std::int64_t key = 1; key < 200; key += 2) EXPECT_TRUE(commit(*store, direct(key, "Alice", "Bob", "hello")));
  reading.join();
}

TEST_F(SqliteFile, QueriesDoNotScanHistory) {
  constexpr WallMs kMinuteMs = 60'000;
  {
    auto store = open();
    Changes many;
    for (std::int64_t key = 1; key < 4'000; key += 2) {
      auto sent = message(key, key % 100 == 1 ? "Alice" : "Noise", key % 100 == 3 ? "Bob" : "Crowd", "hello");
      sent.ts = kStart + key * kMinuteMs;
      if (key % 1'000 == 1) sent.thread = "thread";
      many.push_back(AddMessage{sent});
      many.push_back(AddDelivery{delivery(key + 1, key, sent.to)});
      many.push_back(change(key + 1, key == 2'003 ? DeliveryState::Queued : DeliveryState::Delivered));
    }
    ASSERT_TRUE(commit(*store, many));
  }
  auto connection = *SqliteConnection::open(path_, "", Access::ReadWrite);
  const MessageQuery queries[] = {QueryBuilder{}.limit(10),
                                  QueryBuilder{}.limit(10).from("Alice"),
                                  QueryBuilder{}.limit(10).to("Bob"),
                                  QueryBuilder{}.limit(10).thread("thread"),
                                  QueryBuilder{}.limit(10).delivered_to("Bob"),
                                  QueryBuilder{}.limit(10).delivered_to("Bob").unread_only(),
                                  QueryBuilder{}.limit(10).since(kStart + 3'990 * kMinuteMs),
                                  QueryBuilder{}.limit(10).ascending().after(3'000)};
  for (const auto& question : queries) {
    const auto before = connection->rows_scanned();
    const auto rows = select_messages(*connection, question);
    ASSERT_TRUE(rows);
    EXPECT_FALSE(rows->empty());
    EXPECT_LE(connection->rows_scanned() - before, 100) << "question " << (&question - queries);
  }
}

TEST_F(SqliteFile, HeldAndDeadQueriesDoNotScanHistory) {
  {
    auto store = open();
    Changes many;
    for (std::int64_t key = 1; key < 4'000; key += 2) {
      for (auto& one : direct(key, "Noise", key % 500 == 1 ? "Bob" : "Crowd", "hello")) many.push_back(std::move(one));
      auto end = change(key + 1, key % 500 == 1 ? DeliveryState::Dead : DeliveryState::Delivered);
      if (key % 500 == 3) {
        end.state = DeliveryState::Deferred;
        end.hold = key % 1'000 == 3 ? Hold::Time : Hold::Policy;
        end.available_at = kStart + key;
      }
      many.push_back(end);
    }
    ASSERT_TRUE(commit(*store, many));
  }
  auto connection = *SqliteConnection::open(path_, "", Access::ReadWrite);
  const auto scanned = [&](auto ask) {
    const auto before = connection->rows_scanned();
    ask();
    connection->drop_statements();
    return connection->rows_scanned() - before;
  };
  EXPECT_LE(scanned([&] { EXPECT_EQ(select_deliveries(*connection, {})->size(), 8u); }), 10);
  DeliveryQuery bobs;
  bobs.to = "Bob";
  EXPECT_LE(scanned([&] { EXPECT_EQ(select_deliveries(*connection, bobs)->size(), 8u); }), 10);
  HeldRequest due;
  due.due_by = kStart + 10'000;
  EXPECT_LE(scanned([&] { EXPECT_EQ(select_held(*connection, due)->items.size(), 4u); }), 10);
  HeldRequest crowds;
  crowds.to = AgentName{"Crowd"};
  EXPECT_LE(scanned([&] { EXPECT_EQ(select_held(*connection, crowds)->items.size(), 8u); }), 10);
  EXPECT_LE(scanned([&] { EXPECT_EQ(load_backlog(*connection, backlog_of("Crowd", 0, "Noise"))->items.size(), 0u); }),
            10);
}

TEST_F(SqliteFile, FileShrinksAfterPruning) {
  auto store = open();
  Changes many;
  for (std::int64_t key = 1; key < 4'000; ++key)
    many.push_back(AddMessage{message(key, "Alice", "#log", std::string(1'000, 'x'))});
  ASSERT_TRUE(commit(*store, many));
  const auto before = store->stats()->bytes;
  while (store->prune_step({.max_age_ms = 1}, kStart + 100'000, 500).value()) {}
  EXPECT_LT(store->stats()->bytes, before / 2);
  store.reset();
  EXPECT_LT(fs::file_size(path_), before / 2);
}

TEST_F(SqliteFile, RebuildsDamagedFullTextIndex) {
  {
    auto store = open();
    for (std::int64_t key = 1; key < 40; key += 2) ASSERT_TRUE(commit(*store, direct(key, "Alice", "Bob", "words")));
    while (store->index_step(5).value()) {}
  }
  execute_sql("UPDATE message_text_data SET block=x'00ff00ff00ff00ff00ff'");
  auto store = open();
  EXPECT_EQ(store->messages(QueryBuilder{}.search("words"))->size(), 20u) << "read from the messages";
  ASSERT_TRUE(commit(*store, direct(41, "Alice", "Bob", "words")));
  for (int step = 0; step < 20; ++step) {
    const auto more = store->index_step(5);
    ASSERT_TRUE(more) << more.error().message();
  }
  const auto found = store->messages(QueryBuilder{}.search("words"));
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(found->size(), 21u);
}

TEST(SqliteOnSimDisk, FullDiskAtOpeningIsReported) {
  SimDisk disk;
  disk.set_full(true);
  const auto store = SqliteStore::open({.path = "db", .vfs = disk.vfs(), .sharing = Sharing::Exclusive});
  ASSERT_FALSE(store);
  EXPECT_TRUE(is(store.error(), Errc::Full)) << store.error().message();
  disk.set_full(false);
  EXPECT_TRUE(SqliteStore::open({.path = "db", .vfs = disk.vfs(), .sharing = Sharing::Exclusive}));
}

TEST(SqliteOnSimDisk, SyncsEachGroupOnceInPowerModeAndNeverInProcessMode) {
  for (const auto durability : {Durability::Power, Durability::Process}) {
    SimDisk disk;
    auto store =
        *SqliteStore::open({.path = "db", .durability = durability, .vfs = disk.vfs(), .sharing = Sharing::Exclusive});
    ASSERT_TRUE(commit(*store, direct(1, "Alice", "Bob", "the first group also writes the log's header")));
    const auto before = disk.syncs();
    for (std::int64_t key = 3; key < 23; key += 2) ASSERT_TRUE(commit(*store, direct(key, "Alice", "Bob", "hello")));
    EXPECT_EQ(disk.syncs() - before, durability == Durability::Power ? 10u : 0u);
    ASSERT_TRUE(store->index_step(100));
    EXPECT_EQ(disk.syncs() - before, durability == Durability::Power ? 10u : 0u)
        << "background work does not wait for the disk";
  }
}

TEST_F(SqliteFile, StoreIdChangesAfterUnsyncedCommitsMayBeLost) {
  const auto id_under = [&](Durability durability, const std::string& boot) {
    auto store = *SqliteStore::open({.path = path_, .durability = durability, .boot_id = boot});
    return store->load()->store_id;
  };
  const auto first = id_under(Durability::Power, "boot-1");
  EXPECT_EQ(id_under(Durability::Power, "boot-2"), first);
  EXPECT_EQ(id_under(Durability::Process, "boot-2"), first);
  EXPECT_EQ(id_under(Durability::Process, "boot-2"), first);
  const auto second = id_under(Durability::Process, "boot-3");
  EXPECT_NE(second, first);
  EXPECT_EQ(id_under(Durability::Power, "boot-3"), second);
  EXPECT_EQ(id_under(Durability::Power, "boot-4"), second);
}

}  // namespace
}  // namespace relay::store
