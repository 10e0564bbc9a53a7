"""One write path on two engines: transactions, named SQL, migrations, and what the database itself enforces."""
