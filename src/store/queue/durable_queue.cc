#include "store/queue/durable_queue.h"

#include "store/queue/threaded_queue.h"

namespace relay::store {

std::unique_ptr<StoreQueue> make_durable_queue(std::unique_ptr<MessageStore> store, std::unique_ptr<Journal> journal,
                                               Durability durability, const JournaledStoreQueue::PostTask& post,
                                               JournaledStoreQueue::PostDelayedTask post_delayed,
                                               StoreListener& listener) {
  using Queue = JournaledStoreQueue;
  const QueueTuning tuning{.behind_journal = true};
  const Queue::MakeWriter make_writer = [&](Journal& to, JournalListener& on_written,
                                            Queue::PostTask on_loop) -> std::unique_ptr<JournalWriter> {
    if (durability == Durability::Process)
      return std::make_unique<InlineJournalWriter>(to, on_written, InlineJournalWriter::Sync::No);
    return std::make_unique<ThreadedJournalWriter>(to, on_written, std::move(on_loop), tuning.commit_delay);
  };
  const Queue::MakeQueue make_queue = [&](Queue::PostTask on_loop, StoreListener& on_result) {
    return std::make_unique<ThreadedStoreQueue>(std::move(store), std::move(on_loop), on_result, tuning);
  };
  return std::make_unique<Queue>(std::move(journal), make_writer, make_queue, post, std::move(post_delayed), listener);
}

}  // namespace relay::store
