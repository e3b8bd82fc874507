-- What waits, by the token that Apple signed: an order that names it may find it in somebody else's hands.
CREATE INDEX fulfilments_waiting_by_token ON fulfilments (app, account_token, product)
WHERE state = 'waiting' AND account_token IS NOT NULL;
