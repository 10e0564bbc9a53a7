"""Edit a draft by a batch of operations. Either all of them are applied, or none."""
