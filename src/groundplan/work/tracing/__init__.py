"""Reads for the line from work to the purpose: subtrees, work without a purpose, work without evidence, files."""
