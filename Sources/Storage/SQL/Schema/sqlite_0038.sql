-- Apple's word for whose act a transaction is, the customer's or its own; NULL where its proof does not say.
ALTER TABLE transactions ADD COLUMN reason TEXT;
