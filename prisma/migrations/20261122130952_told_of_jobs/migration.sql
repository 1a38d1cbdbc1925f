-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- AlterTable
ALTER TABLE "job" ADD COLUMN     "told_at" TIMESTAMPTZ(3);

-- End of the generated part.
