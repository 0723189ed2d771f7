// The graphs of report.html: by sample, failures first, each a line that opens.
#pragma once

#include <string>
#include <vector>

#include "report/facts.h"
#include "report/html/texts.h"
#include "report/row.h"
#include "report/sources.h"
#include "report/speed.h"

namespace passnet::report {

/// A graph as the page needs it.
struct GraphEntry {
  const record::RunRecord* record = nullptr;
  Row row;
  Speed speed = Speed::None;
  Facts facts;     // that not all graphs share
  std::string id;  // "g12", by its place among the records
};

/// The entries of one sample in the order of place_of.
struct SampleGroup {
  std::string sample;
  std::vector<GraphEntry> entries;
};

/// Samples with failures first, else in the order of the records.
std::vector<SampleGroup> group_entries(std::vector<GraphEntry> entries);

/// What a reader can filter by, the table, and its rows. texts: collects what the rows link to.
std::string render_groups(const std::vector<SampleGroup>& groups, const Sources& sources, HtmlTexts& texts);

/// "<dl class=facts>…", hashes folded away; "" for none.
std::string render_facts(const Facts& facts);

}  // namespace passnet::report
