"""The store on two engines: transactions, named SQL, migrations, and the rules that the database enforces."""
