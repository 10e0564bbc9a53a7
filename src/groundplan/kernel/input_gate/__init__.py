"""The one way in: bytes become a value, a value becomes an operation's input.

    strict_json.decode(bytes)      one strict JSON document
    strict_json.inspect(value)     the same rules for a value that was never bytes
    admit.admit(value, T)          the value as a T: names normalised, strings unwrapped where T wants something else

All three are pure, and whatever they do not let through is an `Invalid` that tells the caller what to change. Nothing
is imported here: a server's first answer needs `decode` alone.
"""
