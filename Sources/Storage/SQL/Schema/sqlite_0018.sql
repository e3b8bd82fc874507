-- What waits for whoever is known by a token is noted where the customer will stand: the name is empty until an order shows
-- whose it is, or for ever. The version tells of two who write the row at the same time which one did not see the other.
ALTER TABLE customer_tokens ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
