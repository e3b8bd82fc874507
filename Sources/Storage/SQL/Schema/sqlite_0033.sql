-- How often an app's figures were corrected: two corrections of one snapshot would add what was missing twice.
ALTER TABLE apps ADD COLUMN figure_corrections INTEGER NOT NULL DEFAULT 0;
