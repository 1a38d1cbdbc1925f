-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- AlterTable
ALTER TABLE "quota" ADD COLUMN     "declared_as" TEXT;

-- AlterTable
ALTER TABLE "approval_rule" ADD COLUMN     "declared_as" TEXT;

-- End of the generated part.


-- What the configuration has made until now; what it no longer has ends with the next start.
UPDATE approval_rule SET declared_as = name
WHERE EXISTS (SELECT FROM applied_setting a WHERE a.key = 'approvalRule/' || approval_rule.name);

UPDATE quota SET declared_as = format('["%s","%s","%s",%s]', type, action, scope, coalesce(to_json(quota.key)::text, 'null'))
FROM applied_setting a, jsonb_array_elements(a.value) AS r
WHERE a.key = 'quotas' AND r->>'type' = type::text AND r->>'action' = action::text AND r->>'scope' = scope::text
  AND r->>'key' IS NOT DISTINCT FROM quota.key;
