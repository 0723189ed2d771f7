// The fields in JSON of what both records and messages hold (docs/records.md). Heavy: include it in .cpp files only.
#pragma once

#include "base/json/json_object.h"
#include "record/record.h"

namespace passnet {

PASSNET_JSON_FIELDS(record::Mismatch, "mismatch",
                    PASSNET_FIELDS(beyond, different, first, expected, found, where, expected_nan, found_nan,
                                   expected_inf, found_inf))

PASSNET_JSON_FIELDS(record::Layout, "layout", PASSNET_FIELDS(strides, offset) PASSNET_FIELDS_IF_SET(shares))

PASSNET_JSON_FIELDS(record::Errors, "errors", PASSNET_FIELDS(norm, row, ulp, zeros, misplaced))

PASSNET_JSON_FIELDS(record::ErrorBudget, "error budget",
                    PASSNET_FIELD_AS("profile", input_kind) PASSNET_FIELDS(eager, allowed, found))

PASSNET_JSON_FIELDS(record::OutputCheck, "output check",
                    PASSNET_FIELDS(expected_dtype, found_dtype, expected_shape, found_shape, equal, passes_from,
                                   max_abs_diff, mean_abs_diff, max_rel_diff)
                        PASSNET_FIELDS_IF_SET(mismatch, expected_layout, found_layout, budget, checked_from))

PASSNET_JSON_FIELDS(record::DeviceMemory, "device memory", PASSNET_FIELDS(peak_bytes, kept_bytes))

}  // namespace passnet
