-- From where a comparison of notifications can begin again: sqlite_0035, which says more.
ALTER TABLE notification_watches ADD COLUMN IF NOT EXISTS marks TEXT COLLATE "C";
