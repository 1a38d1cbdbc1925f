-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- AlterEnum
ALTER TYPE "question_kind" ADD VALUE 'FORECAST';

-- End of the generated part.
