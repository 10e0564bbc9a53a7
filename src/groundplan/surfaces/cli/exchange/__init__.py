"""`groundplan import` and `groundplan export`: plans from and to other tools."""
