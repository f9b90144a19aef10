/// The queue of a workspace that is kept on disk, put together: a journal, a writer for it, the store's own thread.
#pragma once

#include <memory>

#include "store/journal/journaled_queue.h"
#include "store/sqlite/store.h"

namespace relay::store {

/// A commit is told once the journal has it: in the machine's memory of the file (Process) or on the disk (Power).
std::unique_ptr<StoreQueue> make_durable_queue(std::unique_ptr<MessageStore> store, std::unique_ptr<Journal> journal,
                                               Durability durability, const JournaledStoreQueue::Post& post,
                                               JournaledStoreQueue::Wait wait, StoreListener& listener);

}  // namespace relay::store
