#include <gtest/gtest.h>

#include "base/format.h"
#include "base/json.h"
#include "matrix.h"
#include "testimony.h"

namespace relay::verdicts {
namespace {

constexpr Plan kPlan{.seed = 7, .senders = 2, .agents = 2};

/// The n-th message for this agent that fits the wish of whoever asks.
Number number_for(std::size_t agent, Number from = 0) {
  while (kPlan.errand(from).agent != agent) ++from;
  return from;
}

std::string line(std::string_view event, std::string_view text) {
  return json::serialize(json::object{{"event", event}, {"text", text}}) + "\n";
}

TEST(Parcels, AreFoundWholeOrTorn) {
  const auto body = body_of(17);
  EXPECT_EQ(parcels_in("Relay message from A [x]: " + body), (std::vector<Found>{{17, true}}));
  EXPECT_EQ(parcels_in(body.substr(0, body.size() - 1)), (std::vector<Found>{{17, false}}));
  EXPECT_EQ(parcels_in(body_of(3) + body), (std::vector<Found>{{3, true}, {17, true}}));
  EXPECT_TRUE(parcels_in("a parcel, and parcel 9 ends").empty());
}

TEST(Testimony, CountsWhatWasEnteredHoweverTheLogIsCut) {
  const auto number = number_for(0);
  const auto log = line("paste", body_of(number)) + line("submit", "Relay: " + body_of(number));
  for (std::size_t cut = 0; cut <= log.size(); ++cut) {
    Testimony testimony{kPlan};
    testimony.hear(0, log.substr(0, cut));
    testimony.hear(0, log.substr(cut));
    EXPECT_EQ(testimony.times(number), 1u) << "cut at byte " << cut;
    EXPECT_EQ(testimony.torn(), 0u);
  }
}

TEST(Testimony, TellsTextsThatAreNotOneParcelOrNotForThisAgent) {
  const auto number = number_for(0);
  const auto body = body_of(number);
  for (const auto& text : {body + " and more", body + body_of(number_for(0, number + 1)), body.substr(0, 20)}) {
    Testimony testimony{kPlan};
    testimony.hear(0, line("submit", text));
    EXPECT_EQ(testimony.torn(), 1u) << text;
  }
  Testimony testimony{kPlan};
  testimony.hear(1, line("submit", body));
  EXPECT_EQ(testimony.torn(), 1u);
}

TEST(Testimony, TellsWhatCameTwiceAndWhatCameLate) {
  const auto number = number_for(0);
  auto later = number + 1;
  while (kPlan.errand(later) != kPlan.errand(number)) ++later;
  Testimony testimony{kPlan};
  testimony.hear(0, line("submit", body_of(later)) + line("submit", body_of(number)) + line("submit", body_of(later)));
  EXPECT_EQ(testimony.times(later), 2u);
  EXPECT_EQ(testimony.disordered(), 1u);
  EXPECT_EQ(testimony.received(), 2u);
}

TEST(Matrix, TellsEveryLieFromTheHonestEnds) {
  struct Case {
    Verdict verdict;
    std::size_t received;
    bool truthful;
  };
  for (const auto& [verdict, received, truthful] : std::initializer_list<Case>{{Verdict::Submitted, 1, true},
                                                                               {Verdict::Submitted, 0, false},
                                                                               {Verdict::Seen, 0, false},
                                                                               {Verdict::Seen, 2, false},
                                                                               {Verdict::InDoubt, 0, true},
                                                                               {Verdict::InDoubt, 1, true},
                                                                               {Verdict::InDoubt, 3, false},
                                                                               {Verdict::Failed, 0, false},
                                                                               {Verdict::Expired, 0, false},
                                                                               {Verdict::Dead, 0, false},
                                                                               {Verdict::Cancelled, 0, false},
                                                                               {Verdict::Failed, 1, false},
                                                                               {Verdict::Dead, 1, false},
                                                                               {Verdict::Pending, 0, false},
                                                                               {Verdict::Pending, 1, false},
                                                                               {Verdict::Missing, 0, false}}) {
    Matrix matrix;
    matrix.add(verdict, received);
    EXPECT_EQ(matrix.truthful(), truthful) << name_of(verdict) << ", given " << received;
    EXPECT_EQ(matrix.all(), 1u);
  }
}

TEST(Matrix, AnEndWithoutDeliveryIsALossUnlessTheRunGaveLeave) {
  for (const auto verdict : {Verdict::Failed, Verdict::Expired, Verdict::Dead, Verdict::Cancelled}) {
    Matrix matrix;
    matrix.add(verdict, 0);
    EXPECT_EQ(matrix.lost(), 1u) << name_of(verdict);
    matrix.add(verdict, 0, Leave::ToEnd);
    EXPECT_EQ(matrix.lost(), 1u);
    EXPECT_EQ(matrix.undelivered(), 2u);
    EXPECT_EQ(matrix.excused(), 1u);
    Matrix excused;
    excused.add(verdict, 0, Leave::ToEnd);
    EXPECT_TRUE(excused.truthful());
    excused.add(verdict, 1, Leave::ToEnd);
    EXPECT_EQ(excused.denied(), 1u) << "it was given: no leave makes that true";
    EXPECT_FALSE(excused.truthful());
  }
  Matrix matrix;
  matrix.add(Verdict::Pending, 0, Leave::ToEnd);
  EXPECT_EQ(matrix.lost(), 1u) << "leave to end is no leave to stay";
}

TEST(Matrix, ReadsVerdictsAsTheLedgerWritesThem) {
  EXPECT_EQ(verdict_of("delivered", "seen"), Verdict::Seen);
  EXPECT_EQ(verdict_of("delivered", "submitted"), Verdict::Submitted);
  EXPECT_EQ(verdict_of("delivered", "accepted"), Verdict::Accepted);
  EXPECT_EQ(verdict_of("in_doubt", "accepted"), Verdict::InDoubt);
  EXPECT_EQ(verdict_of("cancelled", ""), Verdict::Cancelled);
  for (const auto* state : {"queued", "accepted", "deferred"}) EXPECT_EQ(verdict_of(state, ""), Verdict::Pending);
}

TEST(Matrix, ShowsOnlyTheRowsThatHoldSomething) {
  Matrix matrix;
  matrix.add(Verdict::Submitted, 1);
  matrix.add(Verdict::InDoubt, 0);
  const auto table = matrix.table();
  EXPECT_TRUE(table.contains("delivered/submitted"));
  EXPECT_TRUE(table.contains("in_doubt"));
  EXPECT_FALSE(table.contains("dead"));
}

}  // namespace
}  // namespace relay::verdicts
