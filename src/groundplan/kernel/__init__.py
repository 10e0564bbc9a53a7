"""The base of every slice: errors, ids, time, actors, access, audit, the store and the registry. Imports no slice."""
