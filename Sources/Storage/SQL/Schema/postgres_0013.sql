-- Orders as people look for them: sqlite_0015.
CREATE INDEX IF NOT EXISTS orders_in_state ON orders (app, state, placed_at, order_id);
