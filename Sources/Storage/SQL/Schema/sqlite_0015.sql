-- Orders as people look for them: how far they have come, the newest first.
CREATE INDEX orders_in_state ON orders (app, state, placed_at, order_id);
