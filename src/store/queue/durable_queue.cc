#include "store/queue/durable_queue.h"

#include "store/queue/threaded_queue.h"

namespace relay::store {

std::unique_ptr<StoreQueue> make_durable_queue(std::unique_ptr<MessageStore> store, std::unique_ptr<Journal> journal,
                                               Durability durability, const JournaledStoreQueue::Post& post,
                                               JournaledStoreQueue::Wait wait, StoreListener& listener) {
  using Queue = JournaledStoreQueue;
  const QueueTuning tuning{.behind_journal = true};
  const Queue::MakeWriter make_writer = [&](Journal& to, JournalListener& told,
                                            Queue::Post on_loop) -> std::unique_ptr<JournalWriter> {
    if (durability == Durability::Process)
      return std::make_unique<InlineJournalWriter>(to, told, InlineJournalWriter::Sync::No);
    return std::make_unique<ThreadedJournalWriter>(to, told, std::move(on_loop), tuning.commit_delay);
  };
  const Queue::MakeQueue make_queue = [&](Queue::Post on_loop, StoreListener& told) {
    return std::make_unique<ThreadedStoreQueue>(std::move(store), std::move(on_loop), told, tuning);
  };
  return std::make_unique<Queue>(std::move(journal), make_writer, make_queue, post, std::move(wait), listener);
}

}  // namespace relay::store
