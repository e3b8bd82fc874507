-- Listings, out of the way of who asks by a key: as long as a table is small or was never analyzed, the planner finds an index
-- that holds a key's columns, with others between them, as good as the key's own, and then walks all of an app for each key.
-- No question that does not name the column between may use one of these.

CREATE INDEX IF NOT EXISTS subscriptions_of_state ON subscriptions (app, realm, state, original_id) WHERE state IS NOT NULL;
DROP INDEX IF EXISTS subscriptions_in_state;

CREATE INDEX IF NOT EXISTS orders_of_state ON orders (app, state, placed_at, order_id) WHERE state IS NOT NULL;
DROP INDEX IF EXISTS orders_in_state;

CREATE INDEX IF NOT EXISTS orders_by_customer ON orders (app, customer, order_id) WHERE customer IS NOT NULL;
DROP INDEX IF EXISTS orders_of_customer;

CREATE INDEX IF NOT EXISTS consumption_requests_about ON consumption_requests (app, transaction_id, realm)
    WHERE transaction_id IS NOT NULL;
DROP INDEX IF EXISTS consumption_requests_of_transaction;

CREATE INDEX IF NOT EXISTS consumption_requests_in_time ON consumption_requests (app, received_at, id)
    WHERE received_at IS NOT NULL;
DROP INDEX IF EXISTS consumption_requests_by_time;
