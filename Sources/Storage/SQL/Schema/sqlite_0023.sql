-- A customer's transactions are those of her chains, and no longer found by who brought them first.
DROP INDEX transactions_of_customer;
