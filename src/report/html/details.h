// What a line of report.html opens to.
#pragma once

#include <string>

#include "report/html/rows.h"

namespace passnet::report {

/// Why it is not correct, its trials in time, links to sources, graphs and launches, and what is known of how it was
/// evaluated. sources: of its sample; nullptr for none. texts: collects what is linked.
std::string render_details(const GraphEntry& entry, const SampleSources* sources, HtmlTexts& texts);

}  // namespace passnet::report
