-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- AlterTable
ALTER TABLE "job" ADD COLUMN     "gpu_most" INTEGER;

-- End of the generated part.

-- `Zoe` and `zoe` look like one person.
CREATE UNIQUE INDEX user_name_in_any_case ON "user" (lower(name));
