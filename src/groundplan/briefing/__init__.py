"""What joins the slices: the only package that reads all four of them."""
