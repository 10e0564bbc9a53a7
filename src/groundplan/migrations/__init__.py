"""The schema's history: `NNNN_name.sql`, one file for both engines, in one order for all slices."""
