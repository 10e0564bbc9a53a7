"""What every slice stands on: errors, ids, time, actors, access, audit, the store and the registry. Knows no plans."""
