-- Of which stores it may be recorded, as words between commas: by the key that brought it. NULL is for all of the app.
ALTER TABLE submissions ADD COLUMN IF NOT EXISTS environments TEXT;
