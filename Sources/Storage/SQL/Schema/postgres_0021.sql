-- Whether it is settled whose a chain is: a person has said so, or it was bought anew. Of what was moved before nobody knows
-- why it was: it stays where it is.
ALTER TABLE owners ADD COLUMN IF NOT EXISTS settled BIGINT NOT NULL DEFAULT 0;
UPDATE owners SET settled = 1 WHERE previous IS NOT NULL;

-- What was given, or waits, had the account token of its first proof; a later one may have named another, or the first none.
UPDATE fulfilments SET account_token = (
    SELECT t.account_token FROM transactions t
    WHERE t.app = fulfilments.app AND t.transaction_id = fulfilments.transaction_id AND t.realm = fulfilments.realm
)
WHERE EXISTS (
    SELECT 1 FROM transactions t
    WHERE t.app = fulfilments.app AND t.transaction_id = fulfilments.transaction_id AND t.realm = fulfilments.realm
        AND t.account_token <> COALESCE(fulfilments.account_token, ''::bytea)
);
