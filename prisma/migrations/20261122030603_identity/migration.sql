-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- AlterTable
ALTER TABLE "user" ADD COLUMN     "oidc_issuer" TEXT,
ADD COLUMN     "oidc_subject" TEXT;

-- CreateIndex
CREATE UNIQUE INDEX "user_oidc_issuer_oidc_subject_key" ON "user"("oidc_issuer", "oidc_subject");

-- End of the generated part.

ALTER TABLE "user" ADD CONSTRAINT user_identity_whole CHECK ((oidc_issuer IS NULL) = (oidc_subject IS NULL));
