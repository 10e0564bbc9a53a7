"""Edit a draft with a batch of operations, which applies as a whole or not at all."""
