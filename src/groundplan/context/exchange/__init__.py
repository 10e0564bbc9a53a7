"""Facts as a document: export a run, import a document as a new draft."""
