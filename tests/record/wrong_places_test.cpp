#include "record/wrong_places.h"

#include <gtest/gtest.h>

#include <functional>

namespace passnet::record {
namespace {

/// The places of a tensor where `wrong` says so, by row-major index and by row and column (of the last two dimensions).
WrongPlaces places(const std::vector<int64_t>& shape, const std::function<bool(int64_t, int64_t, int64_t)>& wrong) {
  WrongPlaces found(shape);
  int64_t total = 1;
  for (const int64_t size : shape) total *= size;
  const int64_t columns = shape.empty() ? 1 : shape.back();
  const int64_t rows = shape.size() < 2 ? 1 : shape[shape.size() - 2];
  for (int64_t i = 0; i < total; ++i) {
    if (wrong(i, i / columns % rows, i % columns)) found.add(i);
  }
  return found;
}

using Index = std::vector<int64_t>;

TEST(WrongPlaces, SaysNothingOfNone) {
  const WrongPlaces none({4, 4});
  EXPECT_EQ(none.describe(), "");
  EXPECT_EQ(none.first_index(), Index{});
}

TEST(WrongPlaces, SaysEverywhere) {
  EXPECT_EQ(places({4, 4}, [](auto, auto, auto) { return true; }).describe(), "everywhere");
  EXPECT_EQ(places({}, [](auto, auto, auto) { return true; }).describe(), "everywhere");
}

TEST(WrongPlaces, NamesRowsAndColumns) {
  EXPECT_EQ(places({16, 128}, [](auto, auto r, auto) { return r >= 3 && r <= 5; }).describe(), "rows 3 to 5 of 16");
  EXPECT_EQ(places({16, 128}, [](auto, auto, auto c) { return c >= 120; }).describe(),
            "columns 120 to 127 of 128 (the last 8)");
  EXPECT_EQ(places({16, 128}, [](auto, auto r, auto) { return r == 0; }).describe(), "row 0 of 16 (the first)");
  EXPECT_EQ(places({16, 128}, [](auto, auto, auto c) { return c == 7; }).describe(), "column 7 of 128");
  EXPECT_EQ(places({16, 128}, [](auto, auto r, auto) { return r == 2 || r == 9; }).describe(), "rows 2 and 9 of 16");
  EXPECT_EQ(places({16, 128}, [](auto, auto r, auto) { return r == 2 || r == 9 || r == 10; }).describe(),
            "rows 2, 9, 10 of 16");
}

TEST(WrongPlaces, NamesATile) {
  const WrongPlaces tile = places({64, 64}, [](auto, auto r, auto c) { return r >= 32 && c < 16; });
  EXPECT_EQ(tile.describe(), "rows 32 to 63 of 64 (the last 32), columns 0 to 15 of 64 (the first 16)");
  EXPECT_EQ(tile.count(), 512);
  EXPECT_EQ(tile.first_index(), (Index{32, 0}));
}

TEST(WrongPlaces, NamesEverySecond) {
  EXPECT_EQ(places({2, 10}, [](auto, auto, auto c) { return c % 2 == 1; }).describe(),
            "columns 1, 3 … 9 of 10 (every 2nd)");
}

TEST(WrongPlaces, NumbersTheDimensionsBeforeRows) {
  EXPECT_EQ(places({4, 3, 5}, [](auto i, auto, auto) { return i / 15 == 2; }).describe(), "dimension 0 at 2 of 4");
  EXPECT_EQ(places({4, 3, 5}, [](auto i, auto, auto) { return i / 15 == 2; }).first_index(), (Index{2, 0, 0}));
}

TEST(WrongPlaces, NamesAStretchThatNoRowBounds) {
  EXPECT_EQ(places({40, 50}, [](auto i, auto, auto) { return i >= 1925; }).describe(),
            "elements 1925 to 1999 of 2000 in order (the last 75)");
  EXPECT_EQ(places({2000}, [](auto i, auto, auto) { return i >= 1925; }).describe(),
            "elements 1925 to 1999 of 2000 (the last 75)");
}

TEST(WrongPlaces, ForgivesElementsThatAreRightByChance) {
  EXPECT_EQ(places({16, 100}, [](auto, auto r, auto c) { return r == 4 && c % 10 != 3; }).describe(),
            "elements 400 to 499 of 1600 in order (90 of the 100 elements there)");
  EXPECT_EQ(places({16, 100}, [](auto i, auto, auto c) { return c >= 90 && i % 7 != 0; }).describe(),
            "columns 90 to 99 of 100 (the last 10) (137 of the 160 elements there)");
}

TEST(WrongPlaces, SaysScattered) {
  EXPECT_EQ(places({50, 50}, [](auto i, auto, auto) { return i % 13 == 5; }).describe(), "scattered");
  EXPECT_EQ(places({50, 50}, [](auto, auto r, auto c) { return r >= 10 && r < 20 && (r * c) % 7 == 1; }).describe(),
            "scattered within rows 10 to 19 of 50");
}

TEST(WrongPlaces, AddedStretchByStretchAreTheSame) {
  const auto is_wrong = [](int64_t i) { return i % 50 >= 30 && i / 50 % 4 == 2; };
  WrongPlaces whole({40, 50}), together({40, 50});
  for (int64_t begin = 0; begin < 2000; begin += 500) {
    WrongPlaces stretch({40, 50});
    for (int64_t i = begin; i < begin + 500; ++i) {
      if (!is_wrong(i)) continue;
      whole.add(i);
      stretch.add(i);
    }
    together.add(stretch);
    together.add(WrongPlaces({40, 50}));
  }
  EXPECT_EQ(together.count(), whole.count());
  EXPECT_EQ(together.first_index(), (Index{2, 30}));
  EXPECT_EQ(together.describe(), whole.describe());
}

}  // namespace
}  // namespace passnet::record
