"""The canvas of the page: a theory of change as SVG that follows the style sheet, a link for each card and edge."""
