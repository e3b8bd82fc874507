-- How often a row was changed: a change is made to the version that was read, or to none. Here one connection writes, so
-- that it never differs; where several write, it decides. One SQL text serves both.

ALTER TABLE transactions ADD COLUMN version INTEGER NOT NULL DEFAULT 1;

ALTER TABLE submissions ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
