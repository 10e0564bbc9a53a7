"""The font of exported pictures: Arimo (SIL Open Font License, beside it), whose letters are as wide as those of Arial.

The same glyphs as the page serves, as TrueType: renderers of PNG read nothing else, and a subset of it can be written
without a library.
"""
