-- What imports have kept and only Apple decides about, by its bytes and in the order of the rows: whose turn it is.
CREATE INDEX submissions_of_imports ON submissions (app, sha256, sequence)
WHERE settled_at IS NULL AND imported <> 0;
