-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- AlterTable
ALTER TABLE "run" ADD COLUMN     "lost_seconds" DOUBLE PRECISION;

-- End of the generated part.
