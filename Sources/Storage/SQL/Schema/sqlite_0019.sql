-- Open orders as they are paid: those that wait before those that gave up waiting, of which a customer may have any number.
CREATE INDEX orders_to_pay ON orders (app, customer, product, state DESC, placed_at, order_id)
WHERE state IN ('pending', 'expired');
DROP INDEX orders_open;
