// How the ranks of a communicator join in one session: nodes, shared memory, the exchange, the engines.  The stages are
// listed in runtime/exchange/agreement.hpp.
#include "runtime/exchange/agreement.hpp"
#include "runtime/exchange/leader_communicator.hpp"
#include "runtime/session/attempt.hpp"
#include "runtime/session/session.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <unistd.h>

namespace effort::session {
namespace {

void require(bool ok, const exchange::Transport& transport) {
  if (!ok) throw Error(Status::mpi, transport.error());
}

}  // namespace

/// This rank's place on its node, and whether it leads one.
struct Session::Node {
  int local = 0, n_local = 1;
  std::size_t trace_blocks = 0;  // of each of its ranks
  bool leader = true;
  Attempt shared;  // creating shared memory, which the system may refuse
};

struct Session::Place {
  std::int32_t node, refused;
};

std::unique_ptr<node::Segment> Session::share_memory(Node& node) {
  node::SegmentShape shape{node.n_local, {transport_->size(), node.n_local}, node.trace_blocks};
  std::unique_ptr<node::Segment> segment;
  if (node.n_local == 1) {
    node.shared([&] { segment = node::Segment::make_private(shape); });
    return segment;
  }
  // If the system refuses, try again with less memory for traces, and finally without any.
  for (;; shape.trace_blocks = recording::Memory::fewer_blocks(shape.trace_blocks)) {
    segment = share_memory(node, shape);
    if (segment) node.shared = {};  // earlier refusals do not matter
    if (segment || shape.trace_blocks == 0) return segment;
  }
}

std::unique_ptr<node::Segment> Session::share_memory(Node& node, const node::SegmentShape& shape) {
  std::unique_ptr<node::Segment> segment;
  for (const node::Access access : {node::Access::descriptor, node::Access::name}) {
    node::Address address;
    std::unique_ptr<node::Offer> offer;
    if (node.local == 0) node.shared([&] { segment = node::Segment::create(shape, access, offer); });
    if (offer) address = offer->address();
    require(transport_->node_bcast(&address, sizeof address), *transport_);
    if (node.local != 0 && address.given()) node.shared([&] { segment = node::Segment::attach(address, shape); });
    std::int64_t ok = segment != nullptr;
    require(transport_->node_min(&ok, 1), *transport_);
    if (ok != 0) return segment;
    segment.reset();
  }
  return nullptr;
}

void Session::join_node(Node& node, engine::NodeSetup& setup) {
  int on_machine = 1;
  require(transport_->form_nodes(settings_.ranks_per_node, node.local, node.n_local, on_machine), *transport_);
  Attempt attempt;
  std::vector<int> ranks;
  std::int64_t blocks = 0;
  attempt([&] {
    ranks.resize(static_cast<std::size_t>(node.n_local));
    blocks = static_cast<std::int64_t>(trace_blocks(on_machine));
  });
  agree_on(attempt, *transport_);
  const int rank = transport_->rank();
  require(transport_->node_allgather(&rank, sizeof rank, ranks.data()), *transport_);
  require(transport_->node_min(&blocks, 1), *transport_);  // all ranks must expect the same size
  node.trace_blocks = static_cast<std::size_t>(blocks);
  segment_ = share_memory(node);
  if (!segment_) {
    // Every rank of this node becomes a node of its own.
    node.local = 0;
    node.n_local = 1;
    ranks.assign(1, rank);
    attempt([&] { segment_ = node::Segment::make_private({1, {transport_->size(), 1}, node.trace_blocks}); });
  } else {
    node.leader = node.local == 0;
  }
  if (segment_) attempt([&] { note_trace_memory(setup); });
  if (segment_) sched_getaffinity(0, sizeof(cpu_set_t), &segment_->rank(node.local).cpus);
  if (segment_) segment_->rank(node.local).process = getpid();
  setup.ranks = std::move(ranks);
  // This also ensures that all ranks have stored their processing units, which the leader reads afterwards.
  agree_on(attempt, *transport_);
}

/// @param all  [ranks of the run] receives the places of all ranks
void Session::join_leaders(const Node& node, engine::NodeSetup& setup, std::vector<Place>& all) {
  int place = -1, n_nodes = 0;
  require(transport_->form_leaders(node.leader, place, n_nodes), *transport_);
  Place mine{place, !node.shared.good()};
  if (segment_->n_local() > 1) require(transport_->node_bcast(&mine.node, sizeof mine.node), *transport_);
  require(transport_->world_allgather(&mine, sizeof mine, all.data()), *transport_);
  Attempt attempt;
  attempt([&] {
    if (node.leader) make_exchange(place, n_nodes);
    client_ = make_client(node.local);
    if (!node.leader) return;
    setup.n_ranks = transport_->size();
    if (place == 0) note_places(node, all, setup);
    auto* const leaders = static_cast<exchange::LeaderCommunicator*>(nodes_.get());
    start_engine(std::move(setup), *nodes_, [leaders] { leaders->fail(); });
  });
  agree_on(attempt, *transport_);
}

void Session::note_places(const Node& node, const std::vector<Place>& all, engine::NodeSetup& setup) {
  int refused = 0;
  for (const Place& p : all) {
    setup.node_of_rank.push_back(p.node);
    refused += p.refused;
  }
  if (refused > 0)
    setup.notes.push_back("shared memory was refused to " + std::to_string(refused) +
                          " ranks, which became nodes of their own" +
                          (node.shared.good() ? std::string() : std::string(": ") + node.shared.why()));
}

void Session::make_exchange(int place, int n_nodes) {
  if (transport_->any_thread()) {
    executor_ = std::make_unique<exchange::DirectExecutor>(*transport_);
  } else {
    auto mailbox = std::make_unique<exchange::Mailbox>(*transport_);
    mailbox_ = mailbox.get();
    executor_ = std::move(mailbox);
  }
  nodes_ = std::make_unique<exchange::LeaderCommunicator>(*executor_, place, n_nodes);
}

config::Settings Session::share_settings(const config::Settings& mine, exchange::Transport& transport) {
  Attempt attempt;
  std::optional<config::Settings> agreed;
  std::string text;
  attempt([&] {
    agreed = mine;
    text = config::to_text(mine);
  });
  auto length = static_cast<std::int64_t>(attempt.good() ? text.size() : 0);
  require(transport.world_bcast(&length, sizeof length, 0), transport);
  try {
    attempt([&] { text.resize(static_cast<std::size_t>(length)); });
    agree_on(attempt, transport);
    require(transport.world_bcast(text.data(), text.size(), 0), transport);
    attempt([&] { config::apply_text(*agreed, text); });
    agree_on(attempt, transport);
  } catch (const Error& e) {
    if (e.status() != Status::mpi) transport.release();  // all ranks come here
    throw;
  } catch (...) {  // out of memory for the message
    transport.release();
    throw;
  }
  return std::move(*agreed);
}

/// Whether this rank can join the others under the settings that all have agreed on: ok, or the reason why not.
Status Session::attachable(const config::Settings& agreed) const {
  if (transport_) return Status::already_initialized;
  if (started()) return Status::state;
  if (!recorder_->load_refusal().empty()) return Status::unsupported;
  return measures(agreed) ? Status::ok : Status::config;
}

/// Describes an obstacle to attaching, on this rank or on another.
std::string Session::why_not(Status worst) const {
  switch (worst) {
    case Status::already_initialized:
      return "a communicator is attached already: call effort_finalize before another effort_init_mpi";
    case Status::state:
      return "a rank has taken progress steps or asked for hints before effort_init_mpi: call it before the first "
             "effort_progress_step";
    case Status::memory: return "a rank is out of memory";
    case Status::unsupported:
      if (!recorder_->load_refusal().empty()) return recorder_->load_refusal();
      return "LOAD_METRIC '" + settings_.load_metric + "' cannot be counted on another rank";
    default:
      return "METRICS, LOAD_METRIC, LOAD_THREADS, READ_METRICS, MULTIPLEX or MAX_OVERHEAD of a session that was begun "
             "earlier differ from rank 0's: set them to the same values on all ranks";
  }
}

void Session::attach(std::unique_ptr<exchange::Transport> transport) {
  // No rank starts before all of them are able to.
  config::Settings agreed = share_settings(settings_, *transport);
  Status mine = Status::memory;
  Attempt()([&] { mine = attachable(agreed); });
  if (const Status worst = exchange::worst_status(*transport, mine); worst != Status::ok) {
    transport->release();
    throw Error(worst, why_not(worst));
  }

  config::Settings before = std::exchange(settings_, std::move(agreed));
  transport_ = std::move(transport);
  try {
    join();
  } catch (...) {
    detach();
    settings_ = std::move(before);
    throw;
  }
}

void Session::join() {
  Node node;
  engine::NodeSetup setup;
  Attempt attempt;
  std::vector<Place> all;
  attempt([&] { all.resize(static_cast<std::size_t>(transport_->size())); });
  agree_on(attempt, *transport_);
  join_node(node, setup);
  join_leaders(node, setup, all);
}

/// Continues only if all is well on every rank, so that the failure of one rank does not leave the others waiting.
void Session::agree_on(const Attempt& mine, exchange::Transport& transport) {
  const Status worst = exchange::worst_status(transport, mine.status());
  if (worst == Status::ok) return;
  throw Error(worst, mine.good() ? std::string("initialization failed on another rank: see effort_last_error() there")
                                 : std::string("initialization failed on this rank: ") + mine.why());
}

void Session::detach() {
  drop_node();
  transport_->release();
  transport_.reset();
}

/// Releases what join() or start_local() has created, in reverse order.
void Session::drop_node() {
  stop_tracing();
  client_.reset();
  if (engine_) engine_->stop();
  engine_.reset();
  nodes_.reset();
  executor_.reset();
  mailbox_ = nullptr;
  placement_.reset();
  segment_.reset();
}

}  // namespace effort::session
