"""The picture of a theory: its content, its layout, and its rendering as SVG."""
