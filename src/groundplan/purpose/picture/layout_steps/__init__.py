"""The steps of the layout: columns, lanes, order, heights, routes."""
