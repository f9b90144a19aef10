/// Queries of the store. One effect type transports all of them, and each result goes to the continuation of its query.
///
/// `for_client` runs the query of a client's request. A new query needs an alternative in records/store_query.h, a
/// frame in frame_table.cc and a method that writes the response.
/// Threading: the broker's.
#pragma once

#include <string_view>
#include <utility>

#include "broker/client_requests.h"
#include "broker/context.h"
#include "broker/pending_results.h"
#include "records/store_query.h"

namespace relay::broker {

class StoreQueries {
 public:
  StoreQueries(Context& context, Connections& connections, ClientRequests& requests)
      : context_{context}, connections_{connections}, requests_{requests} {}

  /// `then` gets Result<records::ResultOf<Query>>.
  template <class Query, class Then>
  void run(Query query, Then then) {
    using Rows = records::ResultOf<Query>;
    const QueryId id = context_.next_query();
    pending_.add(id, [then = std::move(then)](Result<records::StoreResult> result) mutable {
      if (result)
        then(Result<Rows>{std::get<Rows>(*std::move(result))});
      else
        then(Result<Rows>{Failure{std::move(result).error()}});
    });
    context_.emit(QueryStore{id, std::move(query)});
  }

  /// For a request of a client: `then(connection, request, result)` runs if the connection still expects the response.
  /// A connection with too many open requests gets an error instead.
  template <class Query, class Then>
  void for_client(ConnectionState& connection, std::string_view request_id, protocol::MessageType response, Query query,
                  Then then) {
    if (const auto rejected = requests_.check(connection))
      return connections_.send_error(connection, protocol::ErrorCode::Busy, rejected->message);
    run(std::move(query), [this, request = requests_.start(connection, request_id, response),
                           then = std::move(then)](Result<records::ResultOf<Query>> result) mutable {
      if (ConnectionState* client = requests_.finish(request)) then(*client, request, std::move(result));
    });
  }

  void on_result(QueryId id, Result<records::StoreResult> result) { pending_.complete(id, std::move(result)); }

 private:
  Context& context_;
  Connections& connections_;
  ClientRequests& requests_;
  PendingResults<records::StoreResult> pending_;
};

}  // namespace relay::broker
