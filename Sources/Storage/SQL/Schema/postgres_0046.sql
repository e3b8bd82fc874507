-- Whether a purchase was only named by whoever has no say in whose it is: then it is recorded, and becomes nobody's by that.
ALTER TABLE submissions ADD COLUMN IF NOT EXISTS only_named BIGINT NOT NULL DEFAULT 0;
-- Of the proof, where sha256 is of more than its bytes, or of less.
ALTER TABLE submissions ADD COLUMN IF NOT EXISTS proof_sha256 BYTEA;
