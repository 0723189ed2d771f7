#include "site/drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "fx/picture.h"
#include "fx/syntax/parser.h"
#include "report/text.h"

namespace passnet::site {

namespace {

constexpr double kRow = 46, kBox = 24, kGap = 18, kMargin = 10, kLetter = 7.4;
constexpr size_t kLongestTitle = 28;

struct Box {
  ir::NodeId id = 0;
  std::string title;
  std::vector<size_t> inputs;  // boxes
  size_t row = 0;
  double width = 0, x = 0;  // x: the middle
  const char* css = "box";
  bool in_place = false;
  double top() const { return kMargin + kRow * static_cast<double>(row); }
};

const char* box_css(ir::NodeKind kind) {
  return kind == ir::NodeKind::Placeholder ? "input" : kind == ir::NodeKind::Output ? "output" : "box";
}

std::vector<Box> boxes_of(const ir::Graph& graph) {
  std::vector<Box> boxes;
  std::vector<size_t> place(graph.size());
  for (ir::NodeId id = 0; id < graph.size(); ++id) {
    if (fx::is_weight(graph, id)) continue;
    const ir::Node& node = graph.node(id);
    Box box;
    box.id = id;
    box.title = fx::title_of(node);
    if (box.title.size() > kLongestTitle) box.title = box.title.substr(0, kLongestTitle) + "…";
    box.css = box_css(node.kind);
    box.in_place = fx::changes_its_argument(node);
    ir::for_each_input(graph, node, [&](ir::NodeId input) {
      if (fx::is_weight(graph, input)) return;
      if (std::ranges::find(box.inputs, place[input]) == box.inputs.end()) box.inputs.push_back(place[input]);
    });
    for (const size_t input : box.inputs) box.row = std::max(box.row, boxes[input].row + 1);
    box.width = kLetter * static_cast<double>(box.title.size()) + 18;
    place[id] = boxes.size();
    boxes.push_back(std::move(box));
  }
  return boxes;
}

/// Inputs stand right above their first user.
void lower_inputs(std::vector<Box>& boxes) {
  std::vector<size_t> first(boxes.size(), SIZE_MAX);
  for (const Box& box : boxes) {
    for (const size_t input : box.inputs) first[input] = std::min(first[input], box.row);
  }
  for (size_t i = 0; i < boxes.size(); ++i) {
    if (boxes[i].inputs.empty() && first[i] != SIZE_MAX) boxes[i].row = first[i] - 1;
  }
}

/// Each row is ordered by where its inputs stand. Returns: the width of the widest.
double place_in_rows(std::vector<Box>& boxes) {
  size_t last = 0;
  for (const Box& box : boxes) last = std::max(last, box.row);
  std::vector<std::vector<Box*>> rows(last + 1);
  for (Box& box : boxes) rows[box.row].push_back(&box);
  double widest = 0;
  for (auto& row : rows) {
    const auto wish = [&](const Box* box) {
      double sum = 0;
      for (const size_t input : box->inputs) sum += boxes[input].x;
      return box->inputs.empty() ? 1e9 : sum / static_cast<double>(box->inputs.size());
    };
    std::ranges::stable_sort(row, {}, wish);
    double width = -kGap;
    for (const Box* box : row) width += box->width + kGap;
    double x = -width / 2;
    for (Box* box : row) {
      box->x = x + box->width / 2;
      x += box->width + kGap;
    }
    widest = std::max(widest, width);
  }
  return widest;
}

std::string box_svg(const Box& box) {
  return fmt::format(
      "<rect class=\"{}{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" rx=\"{}\"/>"
      "<text text-anchor=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>",
      box.css, box.in_place ? " inplace" : "", box.x - box.width / 2, box.top(), box.width, kBox,
      std::string_view(box.css) == "box" ? 4 : 12, box.x, box.top() + 16, report::escape_html(box.title));
}

std::string edge_svg(const Box& from, const Box& to) {
  const double y0 = from.top() + kBox, y1 = to.top() - 5, bend = std::min(20.0, (y1 - y0) / 2);
  return fmt::format(
      "<path class=\"edge\" d=\"M{0:.1f} {1:.1f}C{0:.1f} {2:.1f} {3:.1f} {4:.1f} {3:.1f} {5:.1f}\"/>"
      "<path class=\"arrow\" d=\"M{6:.1f} {5:.1f}h6l-3 5z\"/>",
      from.x, y0, y0 + bend, to.x, y1 - bend, y1, to.x - 3);
}

}  // namespace

std::string render_drawing(const std::string& model) {
  const auto text = std::make_shared<const std::string>(model);
  const Result<ir::Graph> graph = fx::parse_model("model.py", text);
  if (!graph || graph->size() > kMostNodes) return {};
  std::vector<Box> boxes = boxes_of(*graph);
  if (boxes.empty()) return {};
  lower_inputs(boxes);
  const double width = place_in_rows(boxes) + 2 * kMargin;
  size_t last = 0;
  for (Box& box : boxes) {
    box.x += width / 2;
    last = std::max(last, box.row);
  }
  const double height = 2 * kMargin + kRow * static_cast<double>(last) + kBox;
  std::string out = fmt::format(
      "<svg width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" aria-label=\"graph of "
      "{2} "
      "nodes\">",
      width, height, boxes.size());
  for (const Box& box : boxes) {
    for (const size_t input : box.inputs) out += edge_svg(boxes[input], box);
  }
  for (const Box& box : boxes) out += box_svg(box);
  return out + "</svg>";
}

}  // namespace passnet::site
