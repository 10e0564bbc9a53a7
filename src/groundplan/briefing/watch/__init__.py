"""The assumption watch: what depends on an assumption in doubt or on a changed fact."""
