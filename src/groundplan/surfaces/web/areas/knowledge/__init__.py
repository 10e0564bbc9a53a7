"""Knowledge: atoms and molecules, one of them in the inspector, and what of the repository they cover."""
