-- The outside knows a submission by a name of 16 bytes: its sequence counts those of all apps.
-- Those that were kept before have no name yet, and any will do.

ALTER TABLE submissions ADD COLUMN name BLOB NOT NULL DEFAULT x'';

UPDATE submissions SET name = randomblob(16);

CREATE UNIQUE INDEX submissions_by_name ON submissions (name);
