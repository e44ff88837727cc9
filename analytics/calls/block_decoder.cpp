#include <algorithm>
#include <limits>

#include "analytics/calls/block.hpp"
#include "analytics/calls/block_parts.hpp"
#include "analytics/codec/bytes.hpp"

namespace effort::calls {

namespace {

struct RunHead {
  std::uint64_t stream, events;
};

constexpr std::size_t most_runs = std::size_t{1} << 20;

std::vector<RunHead> read_heads(codec::ByteReader& in) {
  const std::uint64_t n = in.varint();
  if (n > most_runs || n > in.left()) throw codec::CodecError("the block has too many runs", in.offset());
  std::vector<RunHead> heads(n);
  for (RunHead& head : heads) {
    head.stream = in.varint();
    head.events = in.varint();
  }
  return heads;
}

std::uint64_t sum_of(std::span<const RunHead> heads) {
  std::uint64_t sum = 0;
  for (const RunHead& head : heads)
    if (__builtin_add_overflow(sum, head.events, &sum)) return std::numeric_limits<std::uint64_t>::max();
  return sum;
}

/// Spells out calls.
class Expansion {
 public:
  Expansion(const Tree& tree, const std::vector<std::uint32_t>& ids, std::uint64_t events, const EventSink& sink)
      : tree_(tree), ids_(ids), sink_(sink), out_(room) {
    spelled_.reserve(std::min<std::uint64_t>(events, most_spelled));
  }

  void begin(std::uint64_t stream) { stream_ = stream; }
  void event(std::uint32_t id) {
    if (n_ == room) flush();
    out_[n_++] = id;
  }
  void events(std::uint32_t id, std::uint32_t count) {
    for (; count > 0; --count) event(id);
  }
  /// A short node is spelled out once, when it is closed.
  void closed(std::uint32_t node) {
    const Tree::Node& n = tree_.nodes[node];
    if (n.events > most_short || spelled_.size() + n.events > most_spelled) {
      begins_.push_back(none);
      return;
    }
    const std::size_t begin = spelled_.size();
    spelled_.resize(begin + n.events);  // the last event is a return
    std::uint32_t* to = spelled_.data() + begin;
    *to++ = ids_[n.function];
    for (const Item& item : tree_.list(node))
      for (std::uint32_t i = 0; i < item.count; ++i)
        to = std::copy_n(spelled_.data() + begins_[item.node], tree_.nodes[item.node].events, to);
    begins_.push_back(static_cast<std::uint32_t>(begin));
  }
  void item(Item item) {
    const std::size_t bottom = stack_.size();
    copies(item);
    while (stack_.size() > bottom) {
      Open& top = stack_.back();
      if (top.at == tree_.nodes[top.node].size) {
        event(0);
        if (--top.left == 0) {
          stack_.pop_back();
        } else {
          top.at = 0;
          event(ids_[tree_.nodes[top.node].function]);
        }
      } else {
        copies(tree_.items[tree_.nodes[top.node].first + top.at++]);
      }
    }
  }
  void flush() {
    if (n_ > 0) sink_(stream_, std::span(out_).first(n_));
    n_ = 0;
  }

 private:
  struct Open {
    std::uint32_t node, at, left;
  };
  static constexpr std::size_t room = std::size_t{1} << 16;
  static constexpr std::uint64_t most_short = 4096;
  static constexpr std::size_t most_spelled = std::size_t{1} << 22;
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  void copies(Item item) {
    const std::uint32_t begin = begins_[item.node];
    if (begin == none) {
      event(ids_[tree_.nodes[item.node].function]);
      stack_.push_back({item.node, 0, item.count});
      return;
    }
    const auto size = static_cast<std::size_t>(tree_.nodes[item.node].events);
    const std::uint32_t* from = spelled_.data() + begin;
    for (std::uint32_t left = item.count; left > 0; --left) {
      if (n_ + size > room) flush();
      std::uint32_t* to = out_.data() + n_;
      if (size == 2) {
        to[0] = from[0];
        to[1] = 0;
      } else {
        std::copy_n(from, size, to);
      }
      n_ += size;
    }
  }

  const Tree& tree_;
  const std::vector<std::uint32_t>& ids_;
  const EventSink& sink_;
  std::uint64_t stream_ = 0;
  std::vector<std::uint32_t> out_;
  std::size_t n_ = 0;
  std::vector<std::uint32_t> spelled_;
  std::vector<std::uint32_t> begins_;  ///< in spelled_, by node
  std::vector<Open> stack_;
};

class Reader {
 public:
  Reader(std::span<const std::byte> body, std::size_t offset, std::uint64_t events, const EventSink& sink)
      : io_(body), offset_(offset + body.size()), expansion_(tree_, ids_, events, sink) {}

  /// @param spelled  otherwise its calls are only remembered, for the runs that share them
  void run(const RunHead& head, bool spelled) {
    spelled_ = spelled;
    expansion_.begin(head.stream);
    open_.assign(1, {});
    items_.clear();
    left_ = head.events;
    while (left_ > 0) step();
    for (Open& open : open_) symbols_.keep(open.state);
    expansion_.flush();
  }

 private:
  struct Open {
    ListState state;
    std::uint32_t function = 0;
    std::size_t first = 0;
  };

  [[noreturn]] void damaged(const char* what) const { throw codec::CodecError(what, offset_); }

  void take(std::uint64_t events) {
    if (events > left_) damaged("a run has more events than it announces");
    left_ -= events;
  }

  void step() {
    if (io_.overran()) damaged("the block ends too early");
    if (tree_.nodes.size() + tree_.items.size() + items_.size() + open_.size() + 2 > most_held)
      damaged("the block has too many different calls");
    const Symbol symbol = symbols_.code(io_, {}, open_.back().state, functions_, n_functions_);
    switch (symbol.kind) {
      case Symbol::Kind::end: end(); break;
      case Symbol::Kind::known:
        if (symbol.value >= functions_.size()) damaged("a call refers to one that does not exist");
        take(tree_.nodes[symbol.value].events);
        end_item(symbol.value, false);
        break;
      case Symbol::Kind::fresh: fresh(symbol.value); break;
    }
  }

  void end() {
    take(1);
    if (open_.size() == 1) {
      symbols_.learn_stray(open_.back().state);
      const std::uint32_t count = symbols_.code_count(io_, 0, open_.back().state);
      if (count == 0) damaged("a return repeats too often");
      take(count - 1);
      if (spelled_) expansion_.events(0, count);
      items_.push_back({stray_return, count});
      return;
    }
    symbols_.learn_end(open_.back().state);
    const Open call = open_.back();
    open_.pop_back();
    const std::uint32_t node = tree_.add(call.function, std::span(items_).subspan(call.first));
    items_.resize(call.first);
    functions_.push_back(call.function);
    expansion_.closed(node);
    if (spelled_) expansion_.event(0);
    end_item(node, true);
  }

  /// A node of which one copy has been counted, and for a fresh one spelled out.
  void end_item(std::uint32_t node, bool fresh) {
    ListState& state = open_.back().state;
    symbols_.learn(state, node, functions_[node], fresh);
    const std::uint32_t count = symbols_.code_count(io_, 0, state);
    std::uint64_t events;
    if (count == 0 || __builtin_mul_overflow(tree_.nodes[node].events, std::uint64_t{count} - 1, &events))
      damaged("a call repeats too often");
    take(events);
    items_.push_back({node, count});
    if (const std::uint32_t left = count - fresh; left > 0 && spelled_) expansion_.item({node, left});
  }

  void fresh(std::uint32_t function) {
    take(1);
    if (function > n_functions_) damaged("a call is of a function that does not exist");
    if (function == n_functions_) {
      const std::int64_t id = expected_id_ + unzigzag(symbols_.number(io_, 0, id_context));
      if (id < 1 || id > std::numeric_limits<std::uint32_t>::max()) damaged("a function's id is out of range");
      ids_.push_back(static_cast<std::uint32_t>(id));
      expected_id_ = id + 1;
      ++n_functions_;
    }
    if (spelled_) expansion_.event(ids_[function]);
    open_.push_back({inner_list(function), function, items_.size()});
  }

  codec::RangeDecoder io_;
  std::size_t offset_;
  SymbolCoder symbols_;
  Tree tree_;
  std::vector<std::uint32_t> ids_, functions_;
  std::uint32_t n_functions_ = 0;
  std::int64_t expected_id_ = 1;
  Expansion expansion_;
  std::vector<Open> open_;
  std::vector<Item> items_;
  std::uint64_t left_ = 0;
  bool spelled_ = true;
};

}  // namespace

std::uint64_t decode_block(std::span<const std::byte> bytes, std::uint64_t most_events, const EventSink& sink,
                           std::optional<std::uint64_t> only) {
  codec::ByteReader in(bytes);
  const std::vector<RunHead> heads = read_heads(in);
  const std::uint64_t events = sum_of(heads);
  if (events > most_events)
    throw codec::CodecError("the block has more than " + std::to_string(most_events) + " events", in.offset());
  const std::size_t offset = in.offset();
  Reader reader(in.rest(), offset, events, sink);
  const auto wanted = [&](const RunHead& head) { return !only || head.stream == *only; };
  const auto end = std::find_if(heads.rbegin(), heads.rend(), wanted).base();
  for (auto head = heads.begin(); head != end; ++head) reader.run(*head, wanted(*head));
  return events;
}

}  // namespace effort::calls
