-- Open orders as they are paid: those that wait before those that gave up waiting, of which a customer may have any number.
CREATE INDEX orders_to_pay ON orders (app, customer, product, state DESC, placed_at, order_id)
WHERE state IN ('pending', 'expired');
DROP INDEX orders_open;

CREATE INDEX orders_to_pay_by_token ON orders (app, account_token, state DESC, placed_at, order_id)
WHERE state IN ('pending', 'expired') AND account_token IS NOT NULL;
DROP INDEX orders_open_by_token;
