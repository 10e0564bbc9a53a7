"""The formats of rule files: where each keeps them, and how it writes patterns."""
