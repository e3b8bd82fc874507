-- What stands beside a renewal that tells less than Apple signs, as verifyReceipt's: the newest that told all, so that its price
-- and its commitment go on to hold. NULL where the renewal itself tells all, and where there is none.
ALTER TABLE subscriptions ADD COLUMN renewal_beside BLOB;
