"""What a terminal shows: text in styles, widths, tables, the pager and redrawing. Nothing here knows a plan."""
