"""Path patterns: parsing, matching, an index for many patterns, and parsing of requested paths."""
