"""The part of JSON Schema that docs/schemas uses: `problems` says where a value is not what its schema says."""

KNOWN = {"$schema", "title", "description", "type", "properties", "required", "additionalProperties", "items", "minItems", "maxItems", "enum", "anyOf"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def is_of(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":  # what JSON lacks is text
        return (isinstance(value, (int, float)) and not isinstance(value, bool)) or value in ("nan", "inf", "-inf")
    return isinstance(value, TYPES[name])


def problems(value, schema, where="$"):
    unknown = set(schema) - KNOWN
    if unknown:
        return [f"{where}: the schema uses {sorted(unknown)}, which this test does not know"]
    if "anyOf" in schema:
        tried = [problems(value, one, where) for one in schema["anyOf"]]
        return [] if any(not one for one in tried) else [f"{where}: none of anyOf: {tried}"]
    if "enum" in schema:
        return [] if value in schema["enum"] else [f"{where}: found {value!r}, expected one of {schema['enum']}"]
    names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(is_of(value, name) for name in names):
        return [f"{where}: found {value!r:.60}, expected {names}"]
    found = []
    if isinstance(value, dict):
        properties, others = schema.get("properties", {}), schema.get("additionalProperties", True)
        found += [f"{where}: misses '{key}'" for key in schema.get("required", []) if key not in value]
        for key, inner in value.items():
            if key in properties:
                found += problems(inner, properties[key], f"{where}.{key}")
            elif others is False:
                found.append(f"{where}: has '{key}', which the schema does not name")
            elif others is not True:
                found += problems(inner, others, f"{where}.{key}")
    if isinstance(value, list) and not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        found.append(f"{where}: has {len(value)} items, expected {schema.get('minItems')} to {schema.get('maxItems')}")
    if isinstance(value, list) and "items" in schema:
        for index, inner in enumerate(value):
            found += problems(inner, schema["items"], f"{where}[{index}]")
    return found
