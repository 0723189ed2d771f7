// Texts of what is written for the Hub. Internal to dataset/hub.
#pragma once

namespace passnet::dataset::hub {

inline constexpr const char* kDescription =
    "Tensor graphs of public models, as PyTorch modules with the shapes and statistics of their inputs.";

/// The names in braces are of card_of().
inline constexpr const char* kCard = R"(---
pretty_name: {name}
license: other
license_name: by-graph
tags:
  - pytorch
  - compilers
  - croissant
configs:
  - config_name: default
    data_files:
{files}---
# {name}

Tensor graphs of public models, as PyTorch modules with the shapes and statistics of their inputs. A row is a graph. Graphs with one
`structure` make a sample; `train` and `eval` share no family of operators. Made by PassNet {version}.

| split | graphs |
|---|---:|
{counts}
| column | content |
|---|---|
{columns}
Graphs are inference only and hold no trained weights: inputs are drawn by shape, dtype, mean and deviation. Write `model_py`, `weight_meta_py` and
`input_meta_py` to files `model.py`, `weight_meta.py` and `input_meta.py` of a directory, and `passnet run DIRECTORY` runs it.

## Licences

Each row names the licence of the library or model that its graph comes from.

| licence | graphs |
|---|---:|
{licences}
`duckdb < parquet.sql` writes `data/*.parquet`. `croissant.json` has the metadata in Croissant's form.
)";

/// Recipe for DuckDB, run in the directory of the rows.
inline constexpr const char* kParquet = R"(-- Run in this directory: duckdb < parquet.sql
-- Writes the rows as Parquet, sorted by model so that equal texts lie together and compress well.
COPY (
  SELECT * FROM read_json('data/train.jsonl', format = 'newline_delimited', maximum_object_size = 268435456)
  ORDER BY source, model, sample, graph
) TO 'data/train.parquet' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 10000);
COPY (
  SELECT * FROM read_json('data/eval.jsonl', format = 'newline_delimited', maximum_object_size = 268435456)
  ORDER BY source, model, sample, graph
) TO 'data/eval.parquet' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 10000);
)";

/// "@context" of Croissant 1.0. Source: docs.mlcommons.org/croissant.
inline constexpr const char* kCroissantContext = R"({
  "@language": "en",
  "@vocab": "https://schema.org/",
  "sc": "https://schema.org/",
  "cr": "http://mlcommons.org/croissant/",
  "rai": "http://mlcommons.org/croissant/RAI/",
  "dct": "http://purl.org/dc/terms/",
  "conformsTo": "dct:conformsTo",
  "citeAs": "cr:citeAs",
  "column": "cr:column",
  "data": {"@id": "cr:data", "@type": "@json"},
  "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
  "equivalentProperty": "cr:equivalentProperty",
  "examples": {"@id": "cr:examples", "@type": "@json"},
  "extract": "cr:extract",
  "field": "cr:field",
  "fileProperty": "cr:fileProperty",
  "fileObject": "cr:fileObject",
  "fileSet": "cr:fileSet",
  "format": "cr:format",
  "includes": "cr:includes",
  "isLiveDataset": "cr:isLiveDataset",
  "jsonPath": "cr:jsonPath",
  "key": "cr:key",
  "md5": "cr:md5",
  "parentField": "cr:parentField",
  "path": "cr:path",
  "recordSet": "cr:recordSet",
  "references": "cr:references",
  "regex": "cr:regex",
  "repeated": "cr:repeated",
  "replace": "cr:replace",
  "samplingRate": "cr:samplingRate",
  "separator": "cr:separator",
  "source": "cr:source",
  "subField": "cr:subField",
  "transform": "cr:transform"
})";

}  // namespace passnet::dataset::hub
