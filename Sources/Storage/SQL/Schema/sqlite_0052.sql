-- What ties each row of the audit log to all rows before it, so that what was changed, taken out or put in between shows.

-- The row's number in the chain, from 1, in the order of the commits. NULL where a row stands outside: a refused sign-in,
-- which is forgotten after a year, and whatever is older than the chain. Its first link covers the latter.
ALTER TABLE admin_actions ADD COLUMN link_number INTEGER;
-- SHA-256; decision 0035 says of what.
ALTER TABLE admin_actions ADD COLUMN link BLOB;

-- Two writers do not go on from the same link.
CREATE UNIQUE INDEX admin_actions_links ON admin_actions (link_number) WHERE link_number IS NOT NULL;
