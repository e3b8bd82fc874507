-- Open orders as they are paid: those that wait before those that gave up waiting, of which a customer may have any number.
CREATE INDEX IF NOT EXISTS orders_to_pay ON orders (app, customer, product, state DESC, placed_at, order_id)
    WHERE state IN ('pending', 'expired');
DROP INDEX IF EXISTS orders_open;

CREATE INDEX IF NOT EXISTS orders_to_pay_by_token ON orders (app, account_token, state DESC, placed_at, order_id)
    WHERE state IN ('pending', 'expired') AND account_token IS NOT NULL;
DROP INDEX IF EXISTS orders_open_by_token;
