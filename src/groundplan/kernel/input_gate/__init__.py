"""The input gate: turns bytes into a value, and a value into the input of an operation.

    strict_json.decode(bytes)               parse one strict JSON document
    strict_json.validate_value(value)       apply the same rules to a Python value
    request.parse_request(value, T)         return a T; normalize names, decode JSON in strings where T needs it

All three have no side effects and raise an `Invalid` that says what to change. Nothing is imported here, because the
first answer of a server needs only `decode`.
"""
