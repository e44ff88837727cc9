// A call whose messages are recorded, from before it begins until after it has ended.
#pragma once

#include "adapters/pmpi/communicators.hpp"
#include "adapters/pmpi/message_arguments.hpp"
#include "adapters/pmpi/passage.hpp"
#include "adapters/pmpi/request_table.hpp"
#include "runtime/measure/careful.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace effort::pmpi {

/// A message that MPI_Mprobe has found.
struct Found {
  Communicator* communicator;
  int source, tag;
};

/// What all threads share.
struct Shared {
  std::mutex mutex;
  bool concurrent = true;  ///< MPI_THREAD_MULTIPLE; otherwise the host's calls of MPI follow each other
  RequestTable requests;
  std::unordered_map<Word, Found> found;  ///< by message
};
extern __attribute__((visibility("hidden"))) Shared* shared_by_threads;  ///< never freed: calls may come late
inline Shared& shared() { return *shared_by_threads; }

/// Holds what threads share.
class Together {
 public:
  Together() {
    if (shared().concurrent) shared().mutex.lock();
  }
  ~Together() {
    if (shared().concurrent) shared().mutex.unlock();
  }
  Together(const Together&) = delete;
  Together& operator=(const Together&) = delete;
};

inline MPI_Comm pointed_at(const DataArguments& a, int place) {
  return a.fortran ? PMPI_Comm_f2c(*a.pointer<MPI_Fint>(place)) : *a.pointer<MPI_Comm>(place);
}

/// Of one thread's call at a time.  Its methods come in pairs, for the time before and after the call; they hold
/// Together.  They may throw std::bad_alloc.
class MessageCall {
 public:
  void before(Call call, Word* words, bool fortran, const Thread& thread, const Site& site);
  void after(const Word* words, bool succeeded);

 private:
  static constexpr std::uint32_t none = RequestTable::none;
  using What = recording::What;
  using Request = RequestTable::Request;

  // message_starts.cpp
  void send();
  void receive();
  void received(bool succeeded);
  Request request(Communicator& c, int rank, int tag, bool sends) const;
  void start(const Request& r);
  void start(bool sends);
  void bind(MPI_Request handle);
  void started(bool succeeded);
  void persistent(bool sends);
  void start_persistent();
  void not_started();
  void collective();
  void found_message();
  void receive_found();
  void start_found();
  void made_communicator(bool succeeded);

  // completions.cpp
  int requests_place() const;
  int n_requests() const;
  void claim_requests();
  void completed(bool succeeded);
  void completed_with_error();
  void complete(int i, const MPI_Status* status);
  void keep_others();
  /// A place in an array as the call gives it, counted from 0.
  int place_told(int place) const { return a_.fortran ? place - 1 : place; }
  void look_at_request();
  void looked_at_request(bool succeeded);
  void free_request();
  void freed_request(bool succeeded);
  void cancel_request();
  void report(std::uint32_t number, const MPI_Status* status);
  void retire(std::uint32_t number);
  void forget(std::uint32_t number);
  /// The k-th status; null if there is none.
  const MPI_Status* status(int k, MPI_Status& copy) const;

  /// Records happen at the call's boundaries.  Makes them where the call has no region of its own.
  void open();
  void put(Word first, Word second, Word third);
  void put(What what, Communicator* communicator, int peer, std::uint64_t bytes, int tag, std::uint32_t request);
  Communicator* communicator_at(int place) { return communicator(a_.communicator(place)); }
  /// Replaces the status or the `n` statuses that the host does not want.
  void want_status(int n);
  int rank_at(int place) const { return a_.integer(place); }

  Call call_ = Call::count;
  DataArguments a_{};
  Word* words_ = nullptr;
  measure::ThreadSlot* slot_ = nullptr;
  bool begun_ = false;       ///< the call has a region of its own
  bool apart_ = false;       ///< its boundaries have been recorded here instead
  bool own_status_ = false;  ///< the statuses are in statuses_
  std::uint32_t region_ = 0;
  Communicator* communicator_ = nullptr;  ///< of a receive; used until it is over
  std::uint32_t number_ = none;           ///< of the request that the call is about
  bool any_ = false;
  std::vector<std::uint32_t> claimed_;  ///< by position among the call's requests
  std::vector<MPI_Status> statuses_;
};

}  // namespace effort::pmpi
