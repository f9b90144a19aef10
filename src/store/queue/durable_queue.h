/// The queue of a workspace on disk: a journal, its writer and the store's own thread. See make_durable_queue().
#pragma once

#include <memory>

#include "store/journal/journaled_queue.h"
#include "store/sqlite/store.h"

namespace relay::store {

/// A commit is reported once the journal has it: in the page cache of the machine (Process) or on the disk (Power).
std::unique_ptr<StoreQueue> make_durable_queue(std::unique_ptr<MessageStore> store, std::unique_ptr<Journal> journal,
                                               Durability durability, const JournaledStoreQueue::PostTask& post,
                                               JournaledStoreQueue::PostDelayedTask post_delayed,
                                               StoreListener& listener);

}  // namespace relay::store
