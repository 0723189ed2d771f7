#include "dataset/sizes/variant_sizes.h"

#include <gmock/gmock.h>

namespace passnet::dataset {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<DataSymbol> symbols_of(size_t plain, size_t of_pictures) {
  std::vector<DataSymbol> symbols(plain, DataSymbol{16, {}, false});
  symbols.insert(symbols.end(), of_pictures, DataSymbol{224, {}, true});
  return symbols;
}

TEST(VariantSizes, OfASignatureOfTheTableAreItsRows) {
  EXPECT_THAT(variant_sizes("[(S0,)]", symbols_of(1, 0)),
              ElementsAre(ElementsAre(1), ElementsAre(2), ElementsAre(4), ElementsAre(8), ElementsAre(16),
                          ElementsAre(32), ElementsAre(48), ElementsAre(64), ElementsAre(128)));
  EXPECT_THAT(variant_sizes("[(S0,80,S1),(S0,)]", symbols_of(2, 0)).front(), ElementsAre(1, 500));
  EXPECT_EQ(variant_sizes("[(S0,3,512,512)]", symbols_of(1, 0)), variant_sizes("[(S0,3,640,640)]", symbols_of(1, 0)));
}

TEST(VariantSizes, OfOtherSignaturesGoByTheNumberOfSymbols) {
  for (size_t count = 1; count <= 4; ++count)
    EXPECT_THAT(variant_sizes("[(9,9)]", symbols_of(count, 0)), testing::AllOf(SizeIs(9), Each(SizeIs(count))));
  EXPECT_THAT(variant_sizes("[(9,9)]", symbols_of(2, 0))[6], ElementsAre(1, 4096));
  EXPECT_THAT(variant_sizes("[(9,9)]", {}), IsEmpty());
  EXPECT_THAT(variant_sizes("[(9,9)]", symbols_of(5, 0)), IsEmpty());
}

TEST(VariantSizes, OfPicturesAreSizesOfPictures) {
  const auto rows = variant_sizes("[(9,9)]", symbols_of(1, 1));
  EXPECT_THAT(rows[0], ElementsAre(1, 224));
  EXPECT_THAT(rows[2], ElementsAre(1, 256));
  EXPECT_THAT(rows[6], ElementsAre(1, 384));
  EXPECT_THAT(variant_sizes("[(9,9)]", symbols_of(0, 1))[3], ElementsAre(16)) << "a single symbol keeps its rows";
}

TEST(VariantSizes, AreNeverListedTwice) {
  for (size_t pictures = 0; pictures <= 4; ++pictures) {
    auto rows = variant_sizes("[(9,9)]", symbols_of(4 - pictures, pictures));
    const size_t count = rows.size();
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    EXPECT_EQ(rows.size(), count) << pictures;
  }
}

}  // namespace
}  // namespace passnet::dataset
