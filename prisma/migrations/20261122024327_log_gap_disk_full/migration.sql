-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- This is an empty migration.

-- End of the generated part.

ALTER TABLE log_chunk
  DROP CONSTRAINT log_chunk_gap_known,
  ADD CONSTRAINT log_chunk_gap_is_known CHECK (gap IN ('LOST', 'OVER_LIMIT', 'NOT_VISIBLE', 'DISK_FULL'));
