-- Which proof told more was not noted at first: sqlite_0032, which says more.
UPDATE transactions SET fuller_evidence = first_evidence
WHERE first_evidence <> latest_evidence
    AND EXISTS (
        SELECT 1 FROM evidence
        WHERE evidence.sequence = latest_evidence AND evidence.format IN ('app_receipt', 'transaction_receipt')
    )
    AND EXISTS (SELECT 1 FROM evidence WHERE evidence.sequence = first_evidence AND evidence.format LIKE 'jws_%')
    AND NOT EXISTS (SELECT 1 FROM evidence WHERE evidence.sequence = fuller_evidence AND evidence.format LIKE 'jws_%');
