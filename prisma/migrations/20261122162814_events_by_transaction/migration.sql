-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- AlterTable
ALTER TABLE "event" ADD COLUMN     "xact" BIGINT NOT NULL DEFAULT ((pg_current_xact_id())::text)::bigint;

-- End of the generated part.

-- The sequencer looks for events of later transactions than those that it has numbered.
DROP INDEX event_without_position;
CREATE INDEX event_without_position ON event (xact) WHERE position IS NULL;
