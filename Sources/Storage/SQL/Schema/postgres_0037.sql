-- Apple's word for whose act a transaction is: sqlite_0038, which says more.
ALTER TABLE transactions ADD COLUMN IF NOT EXISTS reason TEXT COLLATE "C";
