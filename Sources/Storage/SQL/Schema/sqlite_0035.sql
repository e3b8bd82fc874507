-- From where a comparison of notifications can begin again without counting any twice: where earlier ones ended, and what was
-- counted until there; a line for each.
ALTER TABLE notification_watches ADD COLUMN marks TEXT;
