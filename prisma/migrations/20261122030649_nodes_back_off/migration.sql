-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- AlterTable
ALTER TABLE "node" ADD COLUMN     "backs_off_because" TEXT,
ADD COLUMN     "backs_off_until" TIMESTAMPTZ(3),
ADD COLUMN     "start_failures" INTEGER NOT NULL DEFAULT 0;

-- End of the generated part.
