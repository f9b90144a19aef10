/// The behavior of every store. An implementation joins by one line: INSTANTIATE_TEST_SUITE_P over its StoreKind.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "store/message_store.h"
#include "store/testing/sample_records.h"

namespace relay::store {

/// Creates an empty store for one test.
struct StoreKind {
  std::string name;
  std::function<std::unique_ptr<MessageStore>()> make;
};

class MessageStoreSuite : public testing::TestWithParam<StoreKind> {
 protected:
  void SetUp() override { store_ = GetParam().make(); }

  void commit(const records::Changes& changes) {
    const auto done = sample::commit(*store_, changes);
    ASSERT_TRUE(done) << done.error().message();
  }

  std::vector<records::MessageRow> rows(const records::MessageQuery& query) {
    auto rows = store_->messages(query);
    EXPECT_TRUE(rows) << rows.error().message();
    return rows ? *std::move(rows) : std::vector<records::MessageRow>{};
  }

  std::vector<std::int64_t> keys(const records::MessageQuery& query) {
    std::vector<std::int64_t> keys;
    for (const auto& row : rows(query)) keys.push_back(row.message.key.value());
    return keys;
  }

  std::vector<std::int64_t> backlog_keys(const std::string& to, std::int64_t after = 0,
                                         const std::string& from = "Alice", protocol::Lane lane = {}) {
    auto page = store_->backlog(sample::backlog_of(to, after, from, lane));
    EXPECT_TRUE(page);
    std::vector<std::int64_t> keys;
    for (const auto& item : page->items) keys.push_back(item.delivery.key.value());
    return keys;
  }

  records::TraceEntry entry(std::int64_t key) {
    auto trace = store_->trace(records::delivery_id(Key{key}));
    EXPECT_TRUE(trace) << trace.error().message();
    for (auto& one : trace->deliveries) {
      if (one.delivery.key == Key{key}) return one;
    }
    ADD_FAILURE() << "no delivery " << key;
    return {};
  }

  static std::vector<std::int64_t> keys_of(const records::HeldPage& page) {
    std::vector<std::int64_t> keys;
    for (const auto& item : page.items) keys.push_back(item.delivery.key.value());
    return keys;
  }

  std::vector<std::int64_t> held(const records::HeldRequest& request) {
    const auto page = store_->held(request);
    EXPECT_TRUE(page) << page.error().message();
    return keys_of(*page);
  }

  std::vector<std::int64_t> dead(const records::DeliveryQuery& query) {
    std::vector<std::int64_t> keys;
    const auto rows = store_->deliveries(query);
    EXPECT_TRUE(rows) << rows.error().message();
    for (const auto& row : *rows) keys.push_back(row.delivery.key.value());
    return keys;
  }

  records::WorkspaceState load() {
    auto snapshot = store_->load();
    EXPECT_TRUE(snapshot) << snapshot.error().message();
    return *std::move(snapshot);
  }

  void index_all() {
    while (store_->index_step(2).value()) {}
  }

  void prune_all(const Retention& retention, WallMs now) {
    int steps = 0;
    while (store_->prune_step(retention, now, 3).value()) ASSERT_LT(++steps, 1'000);
  }

  std::unique_ptr<MessageStore> store_;
};

using Keys = std::vector<std::int64_t>;
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MessageStoreSuite);

}  // namespace relay::store
