// Symbols come back, cost what their frequencies suggest, and are never impossible.
#include "analytics/codec/symbol_model.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "analytics/codec/range_coder.hpp"

namespace {

using namespace effort::codec;

constexpr SymbolModel::Kind quick{SymbolModel::uniform, 1, true}, slow{SymbolModel::uniform, 4, false};

/// Codes symbols with two models that take turns, alone and mixed.
template <typename Io>
std::vector<std::uint32_t> code(Io& io, std::vector<std::uint32_t> symbols, const SymbolModel::Kind& kind) {
  std::vector<SymbolModel> models(3, SymbolModel(kind));
  SymbolMixer mixer;
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    io.reserve(16);
    symbols[i] = i % 3 == 0 ? code_symbol(io, symbols[i], models[0], kind)
                            : code_symbol(io, symbols[i], models[1], models[i % 5 == 0 ? 1 : 2], mixer, kind);
  }
  return symbols;
}

std::vector<std::uint32_t> random_symbols(std::size_t n, std::discrete_distribution<std::uint32_t> of) {
  std::mt19937 random(7);
  std::vector<std::uint32_t> symbols(n);
  for (std::uint32_t& s : symbols) s = of(random);
  return symbols;
}

}  // namespace

TEST_CASE("symbols come back") {
  const std::vector<std::vector<std::uint32_t>> all{
      random_symbols(3000, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}),
      random_symbols(3000, {900, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}),
      random_symbols(3000, {0, 0, 0, 5, 20, 5, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1})};
  for (const auto& symbols : all) {
    for (const SymbolModel::Kind& kind : {quick, slow}) {
      RangeEncoder encoder;
      code(encoder, symbols, kind);
      const std::vector<std::byte> bytes = encoder.finish();
      RangeDecoder decoder(bytes);
      CHECK(code(decoder, std::vector<std::uint32_t>(symbols.size()), kind) == symbols);
      CHECK_FALSE(decoder.overran());
    }
  }
}

TEST_CASE("a symbol costs little more than its frequency suggests") {
  const auto symbols = random_symbols(20'000, {8, 4, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  RangeEncoder encoder;
  SymbolModel model(quick);
  for (const std::uint32_t s : symbols) {
    encoder.reserve(16);
    code_symbol(encoder, s, model, quick);
  }
  const double entropy = 1.875;
  CHECK(8.0 * static_cast<double>(encoder.finish().size()) < 1.06 * entropy * static_cast<double>(symbols.size()));
}

TEST_CASE("no symbol becomes impossible") {
  for (const SymbolModel::Kind& kind : {quick, slow}) {
    for (std::uint32_t often = 0; often < SymbolModel::n_symbols; ++often) {
      SymbolModel model(kind);
      for (int i = 0; i < 2000; ++i) model.update(i % 500 == 499 ? (often + 7) % 16 : often, kind);
      std::uint32_t sum = 0;
      for (std::uint32_t s = 0; s < SymbolModel::n_symbols; ++s) {
        CHECK(model.share(s) > 0);
        sum += model.share(s);
      }
      CHECK(sum == SymbolModel::whole);
      CHECK(model.share(often) > SymbolModel::whole * 9 / 10);
    }
  }
}
