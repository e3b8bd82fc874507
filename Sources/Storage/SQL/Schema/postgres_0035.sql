-- What a person says of a purchase's delivery, where the ledger does not know.
ALTER TABLE consumption_requests ADD COLUMN IF NOT EXISTS said_delivery TEXT COLLATE "C";
