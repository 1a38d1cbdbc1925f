-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- This is an empty migration.

-- End of the generated part.

-- The own account of a user is one segment: the dots of `john.doe` are written as `~`, so that `users.john.doe` is below
-- the account of `john` and is not that of `john.doe`. Whoever charged `users.john.doe` before and does not own it under
-- that reading meant the account of `john.doe`. Lanes keep their accounts, for their ids are made of them: what waits now
-- has its share under the old name until it is over.
CREATE FUNCTION pg_temp.owned(account text, payer text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT coalesce((
    SELECT 'users.' || replace(u.name, '.', '~') || substr(account, length('users.' || u.name) + 1)
    FROM "user" u
    WHERE account = 'users.' || u.name OR starts_with(account, 'users.' || u.name || '.')
    ORDER BY u.id IS NOT DISTINCT FROM payer DESC, length(u.name) DESC LIMIT 1
  ), account)
$$;

ALTER TABLE job DISABLE TRIGGER job_submission_stays;
UPDATE job SET account = pg_temp.owned(account, user_id), spec = jsonb_set(spec, '{account}', to_jsonb(pg_temp.owned(account, user_id)))
  || CASE WHEN starts_with(spec->'internalDns'->>'name', 'dns-' || account || '-') THEN jsonb_build_object('internalDns',
       jsonb_set(spec->'internalDns', '{name}', to_jsonb('dns-' || pg_temp.owned(account, user_id)
         || substr(spec->'internalDns'->>'name', length('dns-' || account) + 1)))) ELSE '{}' END
WHERE account LIKE 'users.%.%' AND pg_temp.owned(account, user_id) <> account;
ALTER TABLE job ENABLE TRIGGER job_submission_stays;

UPDATE usage_ledger SET account = pg_temp.owned(account, user_id)
WHERE account LIKE 'users.%.%' AND pg_temp.owned(account, user_id) <> account;

UPDATE quota SET key = pg_temp.owned(key, NULL)
WHERE scope = 'ACCOUNT' AND key LIKE 'users.%.%' AND pg_temp.owned(key, NULL) <> key;

UPDATE pool SET weights = (SELECT jsonb_object_agg(pg_temp.owned(w.key, NULL), w.value) FROM jsonb_each(weights) w)
WHERE EXISTS (SELECT FROM jsonb_object_keys(weights) AS k(key) WHERE k.key LIKE 'users.%.%' AND pg_temp.owned(k.key, NULL) <> k.key);

DROP FUNCTION pg_temp.owned(text, text);

-- What makes the account of a user that user's alone: no name contains the sign that stands for a dot.
ALTER TABLE "user" ADD CONSTRAINT user_name_has_no_tilde CHECK (position('~' IN name) = 0);
