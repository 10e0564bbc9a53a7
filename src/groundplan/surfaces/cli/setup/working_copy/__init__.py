"""The part of `groundplan init` that is about a working copy: where its plan is, and what is set up around it."""
