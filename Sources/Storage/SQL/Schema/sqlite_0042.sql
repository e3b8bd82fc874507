-- How many rows of an import were bought in other stores: nothing of them is missing here.
ALTER TABLE imports ADD COLUMN other_store INTEGER NOT NULL DEFAULT 0;
