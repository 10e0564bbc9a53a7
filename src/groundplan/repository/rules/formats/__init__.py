"""The formats of rule files: where each stores them, and how it writes patterns."""
