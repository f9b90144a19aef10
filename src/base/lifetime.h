/// Lets a pending callback check whether the object it points to still exists.
///
/// Why: a connect, a posted task or a query can complete after the object that started it is destroyed, and a callback
///   can destroy the object whose function called it. The callback captures a watch beside `this` and tests it first:
///
///     loop_.post([this, alive = lifetime_.watch()] {
///       if (alive) deliver();
///     });
///
///   A std::weak_ptr to the object itself lost: it forces shared ownership on objects that have one owner.
/// Invariants: a watch is true until end() or the destruction of its Lifetime, and false from then on.
/// Ownership: declare it as the last member, so that it ends before the other members are destroyed. An object that must
///   end it earlier, or makes watches in its initializer list, calls end() itself.
/// Threading: watches may be copied and dropped on any thread; they are tested, and the lifetime ends, on one thread.
#pragma once

#include <memory>
#include <utility>

namespace relay {

class Lifetime {
 public:
  class Watch {
   public:
    [[nodiscard]] explicit operator bool() const { return *alive_; }

   private:
    friend class Lifetime;
    explicit Watch(std::shared_ptr<const bool> alive) : alive_{std::move(alive)} {}

    std::shared_ptr<const bool> alive_;
  };

  Lifetime() = default;
  ~Lifetime() { end(); }
  Lifetime(const Lifetime&) = delete;
  Lifetime& operator=(const Lifetime&) = delete;

  [[nodiscard]] Watch watch() const { return Watch{alive_}; }
  void end() { *alive_ = false; }

 private:
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace relay
