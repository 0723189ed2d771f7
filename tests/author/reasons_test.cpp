// The reasons for which operators are left to PyTorch: a row for each, with the smallest graph that has it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "author/write.h"
#include "base/text/strings.h"
#include "tests/author/example.h"

namespace passnet::author {
namespace {

using testing::Contains;

/// A value is written "NAME DTYPE SIZE,SIZE", or "NAME DTYPE SIZE,SIZE/STRIDE,STRIDE", or "NAME ?" of unknown type; a list of
/// tensors is "NAME DTYPE SIZES|DTYPE SIZES".
struct Row {
  std::string why;
  std::string inputs;                              // values, with ';' between them
  std::string body;                                // "VALUE = EXPRESSION", with ';' between them
  std::string other_inputs = {}, other_body = {};  // of a second graph; empty: as in the first, if there is another one
};

std::string trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  return first == std::string_view::npos ? "" : std::string(text.substr(first, text.find_last_not_of(' ') + 1 - first));
}

std::string tensor_type(const std::string& text) {
  const std::vector<std::string_view> words = split(text, ' ');
  const std::string sizes(words.size() > 1 ? words[1] : "");
  const size_t slash = sizes.find('/');
  std::string type = R"({"dtype": ")" + std::string(words[0]) + R"(", "shape": [)" + sizes.substr(0, slash) + "]";
  if (slash != std::string::npos) type += R"(, "strides": [)" + sizes.substr(slash + 1) + "]";
  return type + "}";
}

/// Adds the value's type, and returns its name.
std::string add_value(Types& types, std::string_view value) {
  const std::string text = trimmed(value);
  const size_t space = text.find(' ');
  const std::string name = text.substr(0, space), type = text.substr(space + 1);
  if (type == "?") return name;
  if (type.find('|') == std::string::npos) {
    types[name] = tensor_type(type);
    return name;
  }
  std::string list;
  for (const std::string_view one : split(type, '|')) list += (list.empty() ? "" : ", ") + tensor_type(trimmed(one));
  types[name] = R"({"list": [)" + list + "]}";
  return name;
}

Example example_of(const std::string& name, const std::string& inputs, const std::string& body) {
  Types types;
  std::string parameters, text, last;
  for (const std::string_view input : split(inputs, ';'))
    parameters += (parameters.empty() ? "" : ", ") + add_value(types, input);
  for (const std::string_view statement : split(body, ';')) {
    const size_t equals = statement.find(" = ");
    const std::string name = add_value(types, statement.substr(0, equals));
    if (name == "setitem") {  // a statement, after which its tensor has the new elements
      text += "        " + std::string(statement.substr(equals + 3)) + "\n";
      continue;
    }
    last = name;
    text += "        " + last + std::string(statement.substr(equals)) + "\n";
  }
  return example(name, parameters, text + "        return (" + last + ",)\n", types);
}

void expect_reasons(const std::vector<Row>& rows, const WriteOptions& options = {}) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.why + ": " + row.body);
    std::vector<Example> examples = {example_of("one", row.inputs, row.body)};
    if (!row.other_inputs.empty() || !row.other_body.empty())
      examples.push_back(example_of("other", row.other_inputs.empty() ? row.inputs : row.other_inputs,
                                    row.other_body.empty() ? row.body : row.other_body));
    std::vector<std::string> reasons;
    for (const NotWritten& one : write_all(std::move(examples), options).left) reasons.push_back(one.why);
    EXPECT_THAT(reasons, Contains(row.why));
  }
}

const std::string kX = "x float32 8,4", kTwo = "x float32 8,4; y float32 8,4", kNumber = "x float32";
const std::string kImage = "x float32 1,2,8,8";

TEST(Reasons, NameArgumentsThatAreNoneOfTheirKind) {
  expect_reasons({
      {"'dim' is not one whole number", kX, "z float32 8,4 = torch.softmax(x, None)"},
      {"'keepdim' is neither True nor False", kX, "z float32 8,1 = torch.logsumexp(x, 1, keepdim=1)"},
      {"'dims' are no whole numbers", kX, "z float32 8,4 = torch.permute(x, (0, 1.5))"},
      {"'dim' are no whole numbers", kX, "z float32 8 = torch.sum(x, 1.5)"},
      {"'dim' is no dimension", kX, "z float32 8,4 = torch.softmax(x, 5)"},
      {"'dim' is no dimension", kX, "z float32 8 = torch.sum(x, (7,))"},
      {"an argument is not one whole number", kX, "z float32 4 = x.select(0, (1, 2))"},
      {"an argument is no whole number", kX, "z float32 2,4 = x.narrow(0, 1.5, 2)"},
      {"a whole number that the graph computes", "x float32 8,4; y int64", "z float32 4 = x.select(0, y)"},
      {"a number that is below 0 in one of the graphs alone", kX, "z float32 4 = x.select(0, 1)", "",
       "z float32 4 = x.select(0, -1)"},
      {"an argument is no tensor", kX, "z float32 8,4 = torch.softmax(2.0, 0)"},
      {"a float beside whole numbers", "x int64 8", "z int64 8 = x + 0.5"},
      {"an argument is neither a tensor nor a number", kX, "z float32 8,4 = x + 'a'"},
      {"an argument that differs between the graphs is no number", kX, "z float32 8,4 = torch.add(x, torch.float32)",
       "", "z float32 8,4 = torch.add(x, torch.int64)"},
  });
}

TEST(Reasons, NameTypesThatNoKernelHas) {
  expect_reasons({
      {"no kernel takes complex64", kX, "z complex64 8,4 = torch.relu(x)"},
      {"float32 in one graph and int64 in another need two passes", kX, "z float32 8,4 = torch.relu(x)", "",
       "z int64 8,4 = torch.relu(x)"},
      {"its dtype differs between the graphs and is that of no input", kX, "z float32 8,4 = torch.relu(x)", "",
       "z float16 8,4 = torch.relu(x)"},
      {"dimension 0 follows from no dimension of an input", kX, "z float32 31 = torch.flatten(x)"},
      {"what it gives is no tensor of known type", kX, "z ? = torch.relu(x)"},
      {"its rank differs between the graphs", kX, "z float32 8,4 = torch.relu(x)", "", "z float32 8 = torch.relu(x)"},
      {"what it takes is no tensor of known type", "x ?", "z float32 8,4 = torch.relu(x)"},
      {"its elements lie in an order that no kernel writes", kX, "z float32 8,4/4,8 = torch.relu(x)"},
      {"batch_norm in training changes its statistics", "x float32 8,4; m float32 4; v float32 4",
       "z float32 8,4 = torch.nn.functional.batch_norm(x, m, v, None, None, True, 0.1, 1e-05)"},
      {"batch_norm of another type than float", "x float64 8,4; m float64 4; v float64 4",
       "z float64 8,4 = torch.nn.functional.batch_norm(x, m, v, None, None, False, 0.1, 1e-05)"},
      {"batch_norm of fewer than two dimensions", "x float32 8; m float32 8; v float32 8",
       "z float32 8 = torch.nn.functional.batch_norm(x, m, v, None, None, False, 0.1, 1e-05)"},
      {"prelu of another type than float", "x float64 8,4; w float64 4", "z float64 8,4 = torch.prelu(x, w)"},
      {"prelu with slopes of another shape", "x float32 8,4; w float32 3", "z float32 8,4 = torch.prelu(x, w)"},
      {"glu of another type than float", "x float64 8,4", "z float64 8,2 = torch.nn.functional.glu(x, -1)"},
  });
}

TEST(Reasons, NameWhatAttentionIsNotWrittenFor) {
  const std::string three = "q float32 2,8,4; k float32 2,8,4; v float32 2,8,4";
  const std::string call = "z float32 2,8,4 = torch.nn.functional.scaled_dot_product_attention(q, k, v";
  expect_reasons({
      {"attention of other ranks", "q float32 8,4; k float32 8,4; v float32 8,4", call + ")"},
      {"attention of other shapes", "q float32 2,8,4; k float32 3,8,4; v float32 2,8,4", call + ")"},
      {"attention of grouped heads", three, call + ", enable_gqa=True)"},
      {"attention scaled by a tensor", three + "; y float32", call + ", scale=y)"},
      {"a mask of more dimensions than the scores", three + "; m float32 1,2,8,8", call + ", m)"},
      {"a mask of another shape", three + "; m float32 3,8", call + ", m)"},
      {"attention of another type than float", "q float64 2,8,4; k float64 2,8,4; v float64 2,8,4",
       "z float64 2,8,4 = torch.nn.functional.scaled_dot_product_attention(q, k, v)"},
      {"attention that libraries are faster at", "q float32 2,8,4; k float32 2,100,4; v float32 2,100,4", call + ")"},
  });
}

TEST(Reasons, NameWhatDependsOnPlaces) {
  expect_reasons({
      {"a triangle of fewer than two dimensions", "x float32 8", "z float32 8 = torch.triu(x)"},
      {"a triangle that a tensor bounds", "x float32 8,4; y int64", "z float32 8,4 = torch.triu(x, y)"},
      {"as many classes as the largest element says", "x int64 8", "z int64 8,4 = torch.nn.functional.one_hot(x)"},
      {"a part overwritten by more dimensions than it has", "x float32 8,4; y float32 2,3,4",
       "t float32 8,4 = x + 1; setitem float32 8,4 = t[0] = y"},
      {"a part overwritten by another shape", "x float32 8,4; y float32 3",
       "t float32 8,4 = x + 1; setitem float32 8,4 = t[0] = y"},
      {"elements overwritten by an index", "x float32 8,4; y int64 3",
       "t float32 8,4 = x + 1; setitem float32 8,4 = t[y] = 0"},
      {"a mask of another shape", "x float32 8,4; y bool 3", "t float32 8,4 = x + 1; setitem float32 8,4 = t[y] = 0"},
      {"a mask that chooses from a list", "x float32 8,4; m bool 8,4; y float32 3",
       "t float32 8,4 = x + 1; setitem float32 8,4 = t[m] = y"},
      {"the best elements of another type than float and int", "x bool 8", "z int64 = torch.argmax(x, 0)"},
      {"the best of all elements of several dimensions", kX, "z int64 = torch.argmax(x)"},
      {"the best of one element", kNumber, "z int64 = torch.argmax(x, 0)"},
      {"the place in too long a row", "x float32 20000000", "z int64 = torch.argmax(x, 0)"},
  });
}

TEST(Reasons, NameProductsThatAreNotWritten) {
  expect_reasons({
      {"a product of numbers", "x float32; w float32 4", "z float32 4 = x @ w"},
      {"a product of other ranks", "x float32 8,4; w float32 4", "z float32 8,4 = torch.nn.functional.linear(x, w)"},
      {"einsum without an equation", kTwo, "z float32 8,8 = torch.einsum(x, y)"},
      {"einsum with dots, diagonals or capitals", kTwo, "z float32 8,8 = torch.einsum('i...,j...->ij', x, y)"},
      {"einsum of other than two tensors", kTwo, "z float32 8,8 = torch.einsum('ij,ij,ij->ij', x, y, x)"},
      {"a product of another type than float", "x int64 8,4; w int64 4,8", "z int64 8,8 = x @ w"},
      {"a product of several types", "x float32 8,4; w float64 4,8", "z float32 8,8 = x @ w"},
      {"a product of other shapes", "x float32 8,4; w float32 5,8", "z float32 8,8 = x @ w"},
      {"a bias of several dimensions", "x float32 8,4; w float32 3,4; b float32 1,3",
       "z float32 8,3 = torch.nn.functional.linear(x, w, b)"},
      {"an outer product of other ranks", kTwo, "z float32 8,8 = torch.outer(x, y)"},
      {"a convolution of another type than float", "x int64 1,2,8; w int64 2,2,3",
       "z int64 1,2,6 = torch.conv1d(x, w, None, 1, 0, 1, 1)"},
      {"a convolution of other ranks", "x float32 2,8; w float32 2,2,3",
       "z float32 2,6 = torch.conv1d(x, w, None, 1, 0, 1, 1)"},
      {"windows of another number", "x float32 1,2,8; w float32 2,2,3",
       "z float32 1,2,5 = torch.conv1d(x, w, None, 1, 0, 1, 1)"},
      {"numbers for other dimensions", "x float32 1,2,8; w float32 2,2,3",
       "z float32 1,2,6 = torch.conv1d(x, w, None, (1, 1), 0, 1, 1)"},
      {"a transposed convolution of groups", "x float32 1,2,8; w float32 2,2,2",
       "z float32 1,4,16 = torch.conv_transpose1d(x, w, None, 2, 0, 0, 2, 1)"},
      {"a transposed convolution whose windows overlap", "x float32 1,2,8; w float32 2,2,3",
       "z float32 1,2,17 = torch.conv_transpose1d(x, w, None, 2, 0, 0, 1, 1)"},
      {"a transposed convolution that libraries are faster at", "x float32 1,512,8; w float32 512,2,2",
       "z float32 1,2,16 = torch.conv_transpose1d(x, w, None, 2, 0, 0, 1, 1)"},
  });
}

TEST(Reasons, NameTensorsThatAreNotCreated) {
  expect_reasons({
      {"filled with an element of a tensor", "x float32 8,4; y float32",
       "t float32 8,4 = torch.full((8, 4), y); z float32 8,4 = x + t"},
      {"a range of real numbers", "x float32 8", "t float32 8 = torch.arange(0, 8.0); z float32 8 = x + t"},
      {"a range between elements of tensors", "x int64 8; y int64",
       "t int64 8 = torch.arange(y, 8); z int64 8 = x + t"},
      {"linspace of another type than float", "x int64 8",
       "t int64 8 = torch.linspace(0, 7, 8, dtype = torch.int64); z int64 8 = x + t"},
      {"a range between elements of tensors", "x float32 8; y float32",
       "t float32 8 = torch.linspace(y, 7, 8); z float32 8 = x + t"},
      {"a result without elements", kX, "z float32 0,4 = x.repeat(0, 1)"},
      {"a result without elements", kX, "z float32 0,4 = torch.repeat_interleave(x, 0, 0)"},
      {"every element of several dimensions repeated", kX, "z float32 64 = torch.repeat_interleave(x, 2)"},
  });
}

TEST(Reasons, NameFoldsThatAreNotWritten) {
  expect_reasons({
      {"var of another type than float", "x float64 8,4", "z float64 8 = torch.var(x, 1)"},
      {"a sum of whole numbers as another type", "x int64 8,4", "z float32 8 = torch.sum(x, 1)"},
      {"a norm of another order than 1 and 2", kX, "z float32 8 = torch.norm(x, 3, 1)"},
      {"'correction' beside 'unbiased'", kX, "z float32 8 = torch.var(x, 1, correction=0)"},
      {"softmax of a number", kNumber, "z float32 = torch.softmax(x, 0)"},
      {"softmax of another type than float", "x float64 8,4", "z float64 8,4 = torch.softmax(x, 1)"},
      {"logsumexp of another type than float", "x float64 8,4", "z float64 8 = torch.logsumexp(x, 1)"},
      {"a norm of another type than float", "x float64 8,4", "z float64 8,4 = torch.nn.functional.layer_norm(x, (4,))"},
      {"rms_norm whose 'eps' is that of the dtype", kX, "z float32 8,4 = torch.nn.functional.rms_norm(x, (4,))"},
      {"group_norm of fewer than two dimensions", "x float32 8", "z float32 8 = torch.nn.functional.group_norm(x, 2)"},
      {"a norm of another type than float", "x float64 2,4,8",
       "z float64 2,4,8 = torch.nn.functional.group_norm(x, 2)"},
      {"instance_norm with statistics that are kept", "x float32 2,4,8; m float32 4; v float32 4",
       "z float32 2,4,8 = torch.nn.functional.instance_norm(x, m, v)"},
      {"instance_norm of fewer than three dimensions", kX, "z float32 8,4 = torch.nn.functional.instance_norm(x)"},
      {"cumsum of a number", kNumber, "z float32 = torch.cumsum(x, 0)"},
      {"cumsum of conditions", "x bool 8", "z bool 8 = torch.cumsum(x, 0)"},
      {"pooling of another type than float", "x float64 2,4,8",
       "z float64 2,4,1 = torch.nn.functional.adaptive_avg_pool1d(x, 1)"},
      {"pooling of too few dimensions", "x float32 8", "z float32 1 = torch.nn.functional.adaptive_avg_pool2d(x, 1)"},
      {"a norm of another order than 2", kX, "z float32 8,4 = torch.nn.functional.normalize(x, 3.0, 1)"},
      {"normalize of another type than float", "x float64 8,4",
       "z float64 8,4 = torch.nn.functional.normalize(x, 2.0, 1)"},
      {"normalize over several dimensions", kX, "z float32 8,4 = torch.nn.functional.normalize(x, 2.0, (0, 1))"},
  });
}

TEST(Reasons, NameTensorsThatAreNotPutTogether) {
  expect_reasons({
      {"an index of another type than int", "x float32 8,4; y float32 3",
       "z float32 3,4 = torch.index_select(x, 0, y)"},
      {"an index of a number", "x float32; y int64 3", "z float32 3 = torch.index_select(x, 0, y)"},
      {"no list of tensors", kX, "z float32 8,4 = torch.cat(x)"},
      {"tensors of other ranks", "x float32 8,4; y float32 4", "z float32 12,4 = torch.cat((x, y))"},
      {"tensors of other dtypes", "x float32 8,4; y float64 8,4", "z float32 16,4 = torch.cat((x, y))"},
      {"padding of other dimensions", kX, "z float32 8,5 = torch.nn.functional.pad(x, (1,))"},
      {"negative padding", kX, "z float32 8,3 = torch.nn.functional.pad(x, (-1, 0))"},
      {"its operands have different shapes", "x float32 8,4; y float32 3,4", "z float32 8,4 = x + y"},
      {"exp of whole numbers", "x int64 8", "z int64 8 = torch.exp(x)"},
      {"it takes no tensor", kX, "t float32 = torch.add(1.0, 2.0); z float32 8,4 = x + t"},
  });
}

TEST(Reasons, NamePicturesAndWindowsThatAreNotWritten) {
  const std::string resized = "z float32 1,2,16,16 = torch.nn.functional.interpolate(x, ";
  const std::string pooled = "z float32 1,2,4,4 = torch.nn.functional.";
  expect_reasons({
      {"factors for other dimensions", kImage, resized + "None, (2.0,), 'nearest')"},
      {"a factor that is no number", kImage, resized + "None, (None, None), 'nearest')"},
      {"a factor that is not above 0", kImage, resized + "None, -1.0, 'nearest')"},
      {"a picture of another type than float", "x float64 1,2,8,8",
       "z float64 1,2,16,16 = torch.nn.functional.interpolate(x, (16, 16))"},
      {"a picture of another mode than nearest and bilinear", kImage, resized + "(16, 16), None, 'bicubic')"},
      {"a picture with antialiasing", kImage, resized + "(16, 16), None, 'bilinear', antialias=True)"},
      {"a picture of other dimensions", "x float32 2,8,8",
       "z float32 2,16,16 = torch.nn.functional.interpolate(x, (16, 16), None, 'bilinear')"},
      {"pictures of 16 bits, of which PyTorch takes means in two ways", "x float16 1,2,8,8",
       "z float16 1,2,16,16 = torch.nn.functional.interpolate(x, scale_factor=2, mode='bilinear')",
       "x float16 1,2,80,80",
       "z float16 1,2,160,160 = torch.nn.functional.interpolate(x, scale_factor=2, mode='bilinear')"},
      {"numbers for other dimensions", kImage, pooled + "avg_pool2d(x, (2, 2, 2))"},
      {"pooling of another type than float", "x float64 1,2,8,8",
       "z float64 1,2,4,4 = torch.nn.functional.avg_pool2d(x, 2)"},
      {"the largest elements with where they are", kImage, pooled + "max_pool2d(x, 2, return_indices=True)"},
      {"a mean by another number", kImage, pooled + "avg_pool2d(x, 2, divisor_override=3)"},
      {"pooling of too few dimensions", "x float32 8", "z float32 4 = torch.nn.functional.avg_pool2d(x, 2)"},
      {"means of windows that reach behind the end", "x float32 1,2,9",
       "z float32 1,2,5 = torch.nn.functional.avg_pool1d(x, 3, 2, 1, ceil_mode=True)"},
      {"windows whose number is rounded up", kImage, "z float32 1,2,5,5 = torch.nn.functional.avg_pool2d(x, 2)"},
      {"windows of other than a batch of pictures", "x float32 2,8,8",
       "z float32 8,16 = torch.nn.functional.unfold(x, 2, 1, 0, 2)"},
      {"windows of another number", kImage, "z float32 1,8,17 = torch.nn.functional.unfold(x, 2, 1, 0, 2)"},
  });
}

TEST(Reasons, NameViewsThatAreNotWritten) {
  expect_reasons({
      {"a view of another dtype", kX, "z int32 8,4 = x.view(torch.int32)"},
      {"what it gives is no tuple of tensors", kX, "z float32 4,4 = torch.chunk(x, 2)"},
      {"dropout in training draws random numbers", kX, "z float32 8,4 = torch.nn.functional.dropout(x, 0.5, True)"},
      {"movedim of several dimensions", kX, "z float32 4,8 = torch.movedim(x, (0, 1), (1, 0))"},
      {"mT of fewer than two dimensions", "x float32 8", "z float32 8 = x.mT"},
      {"a shape of another rank in each graph", kX, "z float32 8,4 = x.view(8, 4, 1)"},
      {"a size that the graph computes", "x float32 8,4; y int64", "z float32 8,4 = x.view(y, 4)"},
      {"a shape that does not follow from its operand's", "x float32 8,4; y float32 9",
       "z float32 9,4 = x.view(-1, 4)"},
      {"rolling of all elements", kX, "z float32 8,4 = torch.roll(x, 1)"},
      {"rolling by other numbers than dimensions", kX, "z float32 8,4 = torch.roll(x, (1, 2), (0,))"},
      {"'dims' is no dimension", kX, "z float32 8,4 = torch.roll(x, 1, 7)"},
      {"rolling by more than there is", kX, "z float32 8,4 = torch.roll(x, 100, 0)"},
  });
}

TEST(Reasons, NameIndicesThatAreNotWritten) {
  expect_reasons({
      {"an index of a constant", kX, "t float32 = (1, 2)[0]; z float32 8,4 = x + t"},
      {"an index of other dimensions than its result has", kX, "z float32 8,4 = x[0]"},
      {"a slice whose size does not follow from its operand's", kX, "z float32 7,4 = x[1:3]"},
      {"more indices than dimensions", kX, "z float32 4 = x[0, 0, 0]"},
      {"a slice with computed steps", "x float32 8,4; y int64", "z float32 4,4 = x[::y]"},
      {"a slice backwards", kX, "z float32 8,4 = x[::-1]"},
      {"a slice without elements", kX, "z float32 0,4 = x[10:]"},
      {"a slice without elements", kX, "z float32 0,4 = x[:-9]"},
      {"a slice without elements", kX, "z float32 0,4 = x[3:2]"},
      {"a slice that reaches beyond its operand in some of the graphs", kX, "z float32 6,4 = x[:6]", "x float32 5,4",
       "z float32 5,4 = x[:6]"},
  });
}

TEST(Reasons, NameWhatIsOverwrittenWhereOthersLook) {
  expect_reasons({
      {"it overwrites a view of an input of the graph", kX, "t float32 4 = x[0]; z float32 4 = t.relu_()"},
      {"what it overwrites is looked at by others before", kX,
       "t float32 8,4 = x + 1; s float32 8,4|int64 8,4 = torch.sort(t); z float32 8,4 = t.relu_(); y float32 8,4 = z + "
       "1"},
      {"nobody looks at what it gives", kX, "t float32 8,4 = torch.relu(x); z float32 8,4|int64 8,4 = torch.sort(x)"},
  });
}

TEST(Reasons, NamePartsThatAreNotWritten) {
  const std::string halves = "t float32 4,4|float32 4,4 = torch.chunk(x, 2); ";
  expect_reasons({
      {"a part that is not there", kX, halves + "z float32 4,4 = t[5]"},
      {"a part that is not there", kX,
       "t float32 4,4|float32 4,4|float32 4,4 = torch.split(x, [4, 4]); z float32 4,4 = t[2]"},
      {"parts of another number in each graph", "x float32 8,4",
       "t float32 4,4|float32 4,4 = torch.tensor_split(x, 2); z float32 4,4 = t[0]", "",
       "t float32 2,4|float32 2,4 = torch.tensor_split(x, 4); z float32 2,4 = t[0]"},
      {"parts that are longer than others in some of the graphs", kX,
       "t float32 4,4|float32 4,4 = torch.tensor_split(x, 2); z float32 4,4 = t[1]", "x float32 9,4",
       "t float32 5,4|float32 4,4 = torch.tensor_split(x, 2); z float32 4,4 = t[1]"},
      {"a grid of tensors of several dimensions", kTwo,
       "t float32 8,4|float32 8,4 = torch.meshgrid((x, y)); z float32 8,4 = t[0]"},
      {"a last part that is shorter than the others in some of the graphs", kX,
       "t float32 3,4|float32 3,4|float32 2,4 = torch.split(x, 3); z float32 2,4 = t[2]", "x float32 9,4",
       "t float32 3,4|float32 3,4|float32 3,4 = torch.split(x, 3); z float32 3,4 = t[2]"},
  });
}

}  // namespace
}  // namespace passnet::author
