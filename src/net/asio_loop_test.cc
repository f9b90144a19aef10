#include "net/asio_loop.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <thread>

#include "net/signals.h"
#include "net/testing/loop_driver.h"

namespace relay::net {
namespace {

using testing::run_until;

TEST(AsioLoop, RunsTimersInOrderOfDeadline) {
  AsioLoop loop;
  std::string order;
  const auto now = loop.now().steady;  // of both: between two lines a busy machine may do something else
  const auto second = loop.at(now + Millis{4}, [&] { order += 'b'; });
  const auto first = loop.at(now + Millis{2}, [&] { order += 'a'; });
  EXPECT_TRUE(run_until(loop, [&] { return order.size() == 2; }));
  EXPECT_EQ(order, "ab");
}

TEST(AsioLoop, NeverRunsADestroyedTimer) {
  AsioLoop loop;
  bool fired = false;
  bool later = false;
  auto dropped = loop.after(Millis{0}, [&] { fired = true; });
  // Both are due in the same turn: the expiry is queued already when the handle dies.
  const auto dropper = loop.at(SteadyTime{}, [&] { dropped.reset(); });
  const auto end = loop.after(Millis{5}, [&] { later = true; });
  EXPECT_TRUE(run_until(loop, [&] { return later; }));
  EXPECT_FALSE(fired);
}

TEST(AsioLoop, LetsATimerReplaceItselfFromItsOwnTask) {
  AsioLoop loop;
  int fired = 0;
  std::unique_ptr<Timer> timer;
  std::function<void()> again = [&] {
    if (++fired < 3) timer = loop.after(Millis{0}, [&] { again(); });
  };
  timer = loop.after(Millis{0}, [&] { again(); });
  EXPECT_TRUE(run_until(loop, [&] { return fired == 3; }));
}

TEST(AsioLoop, AcceptsTasksFromOtherThreads) {
  AsioLoop loop;
  int sum = 0;
  std::thread worker{[&] {
    for (int i = 0; i < 100; ++i) loop.post([&] { ++sum; });
  }};
  EXPECT_TRUE(run_until(loop, [&] { return sum == 100; }));
  worker.join();
}

TEST(AsioLoop, RunsPostedTasksInOrder) {
  AsioLoop loop;
  std::string order;
  loop.post([&] {
    loop.post([&] {
      order += 'a';
      loop.post([&] { order += 'c'; });
    });
    loop.post([&] { order += 'b'; });
  });
  EXPECT_TRUE(run_until(loop, [&] { return order.size() == 3; }));
  EXPECT_EQ(order, "abc");
}

TEST(AsioLoop, RunsTimersWhileATaskRepostsItself) {
  AsioLoop loop;
  bool due = false;
  std::function<void()> again = [&] {
    if (!due) loop.post([&] { again(); });
  };
  const auto timer = loop.after(Millis{1}, [&] { due = true; });
  loop.post([&] { again(); });
  EXPECT_TRUE(run_until(loop, [&] { return due; }));
}

TEST(AsioLoop, KeepsTasksPostedBeforeStop) {
  AsioLoop loop;
  std::string order;
  loop.post([&] {
    loop.post([&] {
      order += 'a';
      loop.stop();
    });
    loop.post([&] { order += 'b'; });
  });
  loop.run();
  EXPECT_EQ(order, "a");
  EXPECT_TRUE(run_until(loop, [&] { return order == "ab"; }));
}

TEST(AsioLoop, ReturnsAfterFinishWhenNothingIsPending) {
  AsioLoop loop;
  bool ran = false;
  const auto timer = loop.after(Millis{1}, [&] { ran = true; });
  loop.finish();
  loop.run();
  EXPECT_TRUE(ran);
}

TEST(Signals, ArriveAsCallbacksOnTheLoop) {
  AsioLoop loop;
  std::vector<int> received;
  const Signals signals{loop, {SIGUSR1, SIGHUP}, [&](int number) { received.push_back(number); }};
  ::raise(SIGUSR1);
  EXPECT_TRUE(run_until(loop, [&] { return received.size() == 1; }));
  ::raise(SIGHUP);
  EXPECT_TRUE(run_until(loop, [&] { return received.size() == 2; }));
  EXPECT_EQ(received, (std::vector<int>{SIGUSR1, SIGHUP}));
}

}  // namespace
}  // namespace relay::net
