#include <algorithm>

#include "analytics/calls/block.hpp"
#include "analytics/calls/block_parts.hpp"
#include "analytics/codec/bytes.hpp"

namespace effort::calls {

namespace {

/// Codes the lists of all runs; a call is spelled out where it occurs first.
class Writer {
 public:
  Writer(const Tree& tree, const std::vector<std::uint32_t>& ids) : tree_(tree), ids_(ids) {}

  void run(std::span<const TreeBuilder::Open> open, std::span<const Item> items) {
    stack_.clear();
    for (std::size_t depth = 0; depth < open.size(); ++depth) {
      const std::size_t end = depth + 1 < open.size() ? open[depth + 1].first : items.size();
      const auto list = items.subspan(open[depth].first, end - open[depth].first);
      if (depth == 0) {
        stack_.push_back({list, 0, {}, 0});
      } else {
        fresh(open[depth].function, list, 0);
      }
      const std::size_t bottom = stack_.size();
      while (stack_.size() > bottom || stack_.back().at < stack_.back().list.size()) step();
    }
    for (Frame& frame : stack_) symbols_.keep(frame.state);
  }
  /// The coder omits zeros at the end.  They are appended again, so that a decoder knows where the bytes end.
  std::vector<std::byte> finish() {
    const std::size_t n = io_.needed() - 8;
    std::vector<std::byte> out = io_.finish();
    out.resize(std::max(out.size(), n));
    return out;
  }

 private:
  struct Frame {
    std::span<const Item> list;
    std::size_t at;
    ListState state;
    std::uint32_t node;  ///< that the list becomes
  };

  void step() {
    Frame& frame = stack_.back();
    if (frame.at == frame.list.size()) {
      symbols_.code(io_, {Symbol::Kind::end, 0}, frame.state, functions_, n_functions_);
      symbols_.learn_end(frame.state);
      const std::uint32_t node = frame.node;
      functions_.push_back(tree_.nodes[node].function);
      stack_.pop_back();
      end_item(stack_.back(), node, true);
      return;
    }
    const Item item = frame.list[frame.at];
    if (item.node == stray_return) {
      symbols_.code(io_, {Symbol::Kind::end, 0}, frame.state, functions_, n_functions_);
      symbols_.learn_stray(frame.state);
      symbols_.code_count(io_, item.count, frame.state);
      ++frame.at;
    } else if (item.node < functions_.size()) {
      symbols_.code(io_, {Symbol::Kind::known, item.node}, frame.state, functions_, n_functions_);
      end_item(frame, item.node, false);
    } else {
      fresh(tree_.nodes[item.node].function, tree_.list(item.node), item.node);
    }
  }

  void end_item(Frame& frame, std::uint32_t node, bool fresh) {
    symbols_.learn(frame.state, node, functions_[node], fresh);
    symbols_.code_count(io_, frame.list[frame.at].count, frame.state);
    ++frame.at;
  }

  void fresh(std::uint32_t function, std::span<const Item> list, std::uint32_t node) {
    symbols_.code(io_, {Symbol::Kind::fresh, function}, stack_.back().state, functions_, n_functions_);
    if (function == n_functions_) {
      io_.reserve(256);
      symbols_.number(io_, zigzag(std::int64_t{ids_[function]} - expected_id_), id_context);
      expected_id_ = std::int64_t{ids_[function]} + 1;
      ++n_functions_;
    }
    stack_.push_back({list, 0, inner_list(function), node});
  }

  const Tree& tree_;
  const std::vector<std::uint32_t>& ids_;
  codec::RangeEncoder io_;
  SymbolCoder symbols_;
  std::vector<std::uint32_t> functions_;  ///< of the nodes known so far
  std::uint32_t n_functions_ = 0;
  std::int64_t expected_id_ = 1;
  std::vector<Frame> stack_;
};

}  // namespace

void BlockEncoder::end_run() {
  if (runs_.empty()) return;
  Run& run = runs_.back();
  run.open.assign(builder_.open().begin(), builder_.open().end());
  run.items.assign(builder_.open_items().begin(), builder_.open_items().end());
  held_ += run.open.size() + run.items.size();
  builder_.next_stream();
}

void BlockEncoder::begin_run(std::uint64_t stream) {
  end_run();
  runs_.push_back({stream, 0, {}, {}});
}

std::uint32_t BlockEncoder::function_of(std::uint32_t id) {
  if (functions_.empty()) functions_.assign(1024, 0);
  if (ids_.size() * 2 > functions_.size()) {
    functions_.assign(functions_.size() * 2, 0);
    for (std::uint32_t function = 0; function < ids_.size(); ++function) {
      std::size_t at = hashed(ids_[function], 0) & (functions_.size() - 1);
      while (functions_[at] != 0) at = (at + 1) & (functions_.size() - 1);
      functions_[at] = function + 1;
    }
  }
  std::size_t at = hashed(id, 0) & (functions_.size() - 1);
  while (functions_[at] != 0 && ids_[functions_[at] - 1] != id) at = (at + 1) & (functions_.size() - 1);
  if (functions_[at] == 0) {
    ids_.push_back(id);
    functions_[at] = static_cast<std::uint32_t>(ids_.size());
  }
  return functions_[at] - 1;
}

std::size_t BlockEncoder::append(std::span<const std::uint32_t> events) {
  std::size_t n = 0;
  for (; n < events.size(); ++n) {
    if (held_ + builder_.held() + 2 > most_held) break;
    if (events[n] == 0) {
      builder_.leave();
    } else {
      builder_.enter(function_of(events[n]));
    }
  }
  runs_.back().events += n;
  return n;
}

std::vector<std::byte> BlockEncoder::finish() {
  end_run();
  codec::Bytes out;
  codec::put_varint(out, runs_.size());
  for (const Run& run : runs_) {
    codec::put_varint(out, run.stream);
    codec::put_varint(out, run.events);
  }
  Writer writer(builder_.tree(), ids_);
  for (const Run& run : runs_) writer.run(run.open, run.items);
  const std::vector<std::byte> body = writer.finish();
  out.insert(out.end(), body.begin(), body.end());
  builder_.reset();
  runs_.clear();
  ids_.clear();
  functions_.clear();
  held_ = 0;
  return out;
}

}  // namespace effort::calls
