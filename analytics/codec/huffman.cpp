#include "analytics/codec/huffman.hpp"

#include <algorithm>
#include <queue>

namespace effort::codec {

HuffmanCode::HuffmanCode(const std::vector<std::uint64_t>& frequencies) : lengths_(frequencies.size()) {
  struct Node {
    std::uint64_t weight;
    std::size_t id;
    bool operator>(const Node& other) const { return weight != other.weight ? weight > other.weight : id > other.id; }
  };
  std::priority_queue<Node, std::vector<Node>, std::greater<>> open;
  std::vector<std::size_t> parent(frequencies.size());
  for (std::size_t s = 0; s < frequencies.size(); ++s)
    if (frequencies[s] > 0) open.push({frequencies[s], s});
  if (open.size() == 1) lengths_[open.top().id] = 1;
  while (open.size() > 1) {
    const Node a = open.top();
    open.pop();
    const Node b = open.top();
    open.pop();
    const std::size_t id = parent.size();
    parent.push_back(id);
    parent[a.id] = parent[b.id] = id;
    open.push({a.weight + b.weight, id});
  }
  // A code of length d needs a total frequency of at least the d-th Fibonacci number, so totals below 2^31 keep every
  // code within `longest` bits.
  for (std::size_t s = 0; s < frequencies.size(); ++s) {
    if (frequencies[s] == 0 || lengths_[s] == 1) continue;
    std::size_t node = s;
    for (; parent[node] != node && node != parent.size() - 1; node = parent[node]) ++lengths_[s];
    lengths_[s] = std::min(lengths_[s], longest);
  }
  assign();
}

HuffmanCode::HuffmanCode(ByteReader& in, std::size_t symbols) : lengths_(symbols) {
  const std::size_t at = in.offset();
  const std::uint64_t used = in.varint();
  if (used > symbols) throw CodecError("the Huffman code has too many symbols", at);
  std::size_t symbol = 0;
  std::uint64_t space = 0;
  for (std::uint64_t i = 0; i < used; ++i) {
    const std::size_t here = in.offset();
    symbol += in.varint() + (i > 0 ? 1 : 0);
    const unsigned length = in.byte();
    if (symbol >= symbols || length < 1 || length > longest) throw CodecError("the Huffman code is invalid", here);
    lengths_[symbol] = static_cast<int>(length);
    space += std::uint64_t{1} << (longest - length);
  }
  if (space > std::uint64_t{1} << longest) throw CodecError("the Huffman code is ambiguous", at);
  assign();
}

void HuffmanCode::write(Bytes& out) const {
  const auto used = std::count_if(lengths_.begin(), lengths_.end(), [](int n) { return n > 0; });
  put_varint(out, static_cast<std::uint64_t>(used));
  std::size_t next = 0;
  for (std::size_t s = 0; s < lengths_.size(); ++s) {
    if (lengths_[s] == 0) continue;
    put_varint(out, s - next);
    put_byte(out, static_cast<unsigned>(lengths_[s]));
    next = s + 1;
  }
}

void HuffmanCode::assign() {
  for (std::size_t s = 0; s < lengths_.size(); ++s)
    if (lengths_[s] > 0) {
      order_.push_back(s);
      ++count_[lengths_[s]];
    }
  std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
    return lengths_[a] != lengths_[b] ? lengths_[a] < lengths_[b] : a < b;
  });
  codes_.resize(lengths_.size());
  std::uint32_t code = 0;
  std::size_t at = 0;
  for (int length = 1; length <= longest; ++length) {
    code <<= 1;
    first_[length] = code;
    start_[length] = at;
    for (std::size_t k = 0; k < count_[length]; ++k) codes_[order_[at++]] = code++;
  }
}

std::size_t HuffmanCode::take(BitReader& in) const {
  std::uint32_t code = 0;
  for (int length = 1; length <= longest; ++length) {
    code = code << 1 | in.bit();
    if (code - first_[length] < count_[length]) return order_[start_[length] + (code - first_[length])];
  }
  throw CodecError("no symbol has this Huffman code", in.offset());
}

}  // namespace effort::codec
