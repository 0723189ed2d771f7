#include "dataset/catalog/sample_list.h"

#include <gmock/gmock.h>

#include "dataset/tree_fixture.h"

namespace passnet::dataset {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class SampleList : public TreeTest {
 protected:
  // "samples/a, b" with two operators for evaluation, and "samples/c" for training.
  Result<void> write_two(const std::string& directory) const {
    return write_lists(root / directory, root / "tree",
                       {{"samples/a, b", "eval", 3, {"add", "relu"}}, {"samples/c", "train", 1, {"exp"}}});
  }
};

TEST_F(SampleList, NamesSamplesRelativeToItselfAndInATable) {
  ASSERT_TRUE(write_two("tree/lists"));
  EXPECT_EQ(read("tree/lists/all.txt"), "../samples/a, b\n../samples/c\n");
  EXPECT_EQ(read("tree/lists/train.txt"), "../samples/c\n");
  EXPECT_EQ(read("tree/lists/eval.txt"), "../samples/a, b\n");
  EXPECT_EQ(read("tree/lists/all.csv"),
            "sample,split,graphs,ops\n\"samples/a, b\",eval,3,add relu\nsamples/c,train,1,exp\n");
  EXPECT_EQ(read("tree/lists/eval.csv"), "sample,split,graphs,ops\n\"samples/a, b\",eval,3,add relu\n");
  ASSERT_TRUE(write_two("elsewhere/deep"));
  EXPECT_EQ(read("elsewhere/deep/train.txt"), "../../tree/samples/c\n");
}

TEST_F(SampleList, IsReadBack) {
  write_graph("tree/samples/a, b", kRelu);
  write_graph("tree/samples/c", kRelu);
  for (const char* directory : {"tree/lists", "elsewhere"}) {
    ASSERT_TRUE(write_two(directory));
    const Result<PathList> all = read_list(root / directory / "all.txt", root / "tree");
    ASSERT_TRUE(all) << to_string(all.error());
    EXPECT_THAT(all->paths, ElementsAre("samples/a, b", "samples/c"));
    EXPECT_THAT(all->missing, IsEmpty());
  }
}

TEST_F(SampleList, ReplacesOnlyListsThatItWrote) {
  EXPECT_TRUE(may_write_lists(root / "tree/lists")) << "there are none";
  ASSERT_TRUE(write_two("tree/lists"));
  EXPECT_TRUE(may_write_lists(root / "tree/lists"));
  write("tree/lists/notes.txt", "of others");
  EXPECT_TRUE(may_write_lists(root / "tree/lists"));
  write("tree/lists/eval.csv", "other,columns\n");
  EXPECT_FALSE(may_write_lists(root / "tree/lists"));
  write("hand/train.txt", "a\n");
  EXPECT_FALSE(may_write_lists(root / "hand"));
}

TEST_F(SampleList, SaysWhatItsLinesDoNotFind) {
  write_graph("tree/samples/c", kRelu);
  write("tree/some.txt", "# of one dataset\nsamples/c/\nsamples/d\n");
  const Result<PathList> some = read_list(root / "tree/some.txt", root / "tree");
  ASSERT_TRUE(some) << to_string(some.error());
  EXPECT_THAT(some->paths, ElementsAre("samples/c"));
  EXPECT_THAT(some->missing, ElementsAre("samples/d"));
  write("tree/empty.txt", "\n");
  EXPECT_THAT(read_list(root / "tree/empty.txt", root / "tree")->paths, IsEmpty());
  EXPECT_EQ(read_list(root / "tree/none.txt", root / "tree").error().kind, Error::Kind::BadInput);
}

}  // namespace
}  // namespace passnet::dataset
