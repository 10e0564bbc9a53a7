"""The schema's history: `NNNN_name.sqlite.sql` and `NNNN_name.postgres.sql`, in one order for all slices."""
