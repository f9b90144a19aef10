/// One agent's deliveries on their way: what is in flight, what is ready, what still lies in the store.
///
/// The store holds the truth; this holds a window of it. Deliveries enter in key order, either straight from a commit
/// or in pages loaded from the store. Whenever the window has no room, a commit is only remembered as "more in the
/// store"; a page asked for later finds it, because a page is answered after every commit asked for before it.
///
///     store:   1 2 3 4 5 6 7 8 9 …        cursor_ = 5: everything up to 5 was taken into this window
///     flight:  1 2 3     ready: 4 5       more_in_store_ = true: 6 … will be loaded after the cursor
///
/// Invariants: keys in flight < keys ready; nothing is in both; at most `window` in flight and about one page ready.
/// A reconnect forgets the window and starts over from the store, so old ids and numbers come again by themselves.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "records/queries.h"

namespace relay::broker {

struct Parcel {
  records::Delivery delivery;
  std::shared_ptr<const records::Message> message;
};

/// When a delivery in flight is finished.
enum class DoneWhen : std::uint8_t { Acknowledged, Written };

struct InFlight {
  Parcel parcel;
  DoneWhen done = DoneWhen::Acknowledged;
  SteadyTime resend_at{};
  Millis resend_after{0};
};

class Mailbox {
 public:
  /// Deliveries that are not final, those being committed included.
  std::uint64_t pending = 0;

  void settled_one() { pending -= pending > 0 ? 1 : 0; }

  void connect(std::uint32_t window);
  void disconnect();
  [[nodiscard]] bool connected() const { return window_ > 0; }

  /// A delivery was committed; it is kept ready if it is the next one and there is room.
  void committed(Parcel parcel, std::size_t max_ready);

  /// The next parcel to send, if the window allows; it counts as in flight from now on. `done_when` is asked per parcel.
  template <class DoneRule>
  InFlight* send_next(DoneRule&& done_when) {
    InFlight* sent = take_ready();
    if (sent == nullptr) return nullptr;
    sent->done = done_when(sent->parcel);
    if (sent->done == DoneWhen::Written) ++until_written_;
    return sent;
  }
  [[nodiscard]] bool has_ready() const { return !ready_.empty(); }

  /// Should a page be asked for? `begin_load` says after which key.
  [[nodiscard]] bool wants_page() const { return connected() && ready_.empty() && more_in_store_ && !loading_; }
  Key begin_load();
  void page_arrived(records::BacklogPage page);
  void page_failed();

  std::optional<InFlight> finish(Key key);
  /// Takes out whatever is finished by having been written.
  std::vector<InFlight> finish_written();
  /// No longer wanted (expired, cancelled); false when it was not here.
  bool drop(Key key);

  [[nodiscard]] std::size_t in_flight() const { return flight_.size(); }
  std::map<Key, InFlight>& flight() { return flight_; }
  [[nodiscard]] std::size_t ready_count() const { return ready_.size(); }

 private:
  InFlight* take_ready();

  std::uint32_t window_ = 0;  // 0: nobody is connected
  std::map<Key, InFlight> flight_;
  std::deque<Parcel> ready_;
  std::size_t until_written_ = 0;  // how many in flight are done when written
  Key cursor_;
  bool more_in_store_ = false;
  bool loading_ = false;
  bool load_is_stale_ = false;  // asked for before a reconnect
};

}  // namespace relay::broker
